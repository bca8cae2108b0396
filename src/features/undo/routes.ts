import * as v from 'valibot';
import { DepotError } from '../../errors.ts';
import { confirmSeconds } from '../../http/parameter-schemas.ts';
import { json } from '../../http/respond.ts';
import { post, postTask, type Route } from '../../http/route.ts';
import { submissionResult } from '../../http/task-result.ts';
import type { ConfirmOrBack } from '../../jobs/confirm-or-back.ts';
import type { Job } from '../../jobs/job.ts';
import { failureProblem } from '../../package-management/failure.ts';
import type { FeatureContext } from '../feature.ts';
import { wholeObstacleTo } from './undo-obstacles.ts';
import { refusal, type UndoPlanTools } from './plan.ts';

export interface UndoRouteTools extends UndoPlanTools, Pick<FeatureContext, 'submit'> {
  confirmations: Pick<ConfirmOrBack, 'confirm'>;
  /** @throws DepotError not_found */
  find: (id: string) => Job;
}

const taskId = v.pipe(v.string(), v.maxLength(64, 'at most 64 characters are allowed'));

export function undoRoutes(tools: UndoRouteTools): Route[] {
  const { find, submit, confirmations } = tools;
  return [
    postTask({
      path: 'admin/store/undo',
      summary: 'Take back what a finished task changed',
      params: { task_id: taskId, confirm_s: v.optional(confirmSeconds) },
      handle: async ({ params: { task_id: id, confirm_s: seconds } }) => {
        const job = find(id);
        const obstacle = await wholeObstacleTo(job, tools);
        if (obstacle !== undefined) {
          const problem = failureProblem(`undo ${job.command}`, refusal(obstacle));
          const { message, code, remedy } = problem;
          throw new DepotError('conflict', message, { explanation: { code, remedy } });
        }
        const params = { task_id: job.id, ...(seconds !== undefined && { confirm_s: seconds }) };
        return json(submissionResult(await submit('undo', job.subject, params)));
      },
    }),
    post({
      path: 'admin/store/confirm',
      summary: 'Keep what a task changed that was asked for with confirm_s',
      params: { task_id: taskId },
      handle: async ({ params: { task_id: id } }) => {
        const outcome = await confirmations.confirm(find(id).id);
        if (outcome === 'confirmed') return json({ code: 0 });
        const why =
          outcome === 'back'
            ? 'its time is over, and it goes back'
            : 'it does not have to be confirmed, or is not done yet';
        throw new DepotError('conflict', `cannot confirm the task ${id}: ${why}`);
      },
    }),
  ];
}
