import { DepotError, type ErrorCode } from '../../errors.ts';
import { explained } from '../../package-management/failure.ts';
import type { ProblemCode } from '../../package-management/problem.ts';

/** A failure of an action that the operator branches on. */
export function fleetFailure(code: ErrorCode, because: ProblemCode, message: string): DepotError {
  return new DepotError(code, message, { explanation: explained(because) });
}
