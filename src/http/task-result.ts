import type { Submission } from '../jobs/job.ts';
import type { TaskResult } from './respond.ts';

/** What the queue made of a request, as a task result. */
export function submissionResult(submission: Submission): TaskResult {
  if ('job' in submission) return { code: 0, stdout: '', stderr: '', task_id: submission.job.id };
  const { id, command } = submission.conflict;
  return {
    code: 1,
    stdout: '',
    stderr:
      `cannot take the request: task ${id} (${command}) is queued and contradicts it; stop ` +
      'that task first',
  };
}
