import * as v from 'valibot';
import { slots, type Remembering } from '../../../jobs/memory.ts';

/** How ids of the steps begin that belong to the operator's programs. */
export const PROGRAM_STEPS = 'program-';

const begun = slots('the programs', { programs: v.optional(v.array(v.string()), []) });

/** Labels of the programs that the job has begun: what those change is nobody's to put back. */
export function begunPrograms(job: Remembering): string[] {
  return begun.read(job).programs;
}

export function rememberProgram(context: Remembering, label: string): void {
  begun.write(context, { programs: [...new Set([...begunPrograms(context), label])] });
}
