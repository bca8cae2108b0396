import * as v from 'valibot';
import type { StepContext } from '../../../jobs/plan.ts';

type Memory = Pick<StepContext, 'memory'>;

/** Labels of the programs that the job has begun: what those change is nobody's to put back. */
export function begunPrograms({ memory }: Memory): string[] {
  return v.parse(v.optional(v.array(v.string()), []), memory.programs);
}

export function rememberProgram({ memory }: Memory, label: string): void {
  memory.programs = [...new Set([...begunPrograms({ memory }), label])];
}
