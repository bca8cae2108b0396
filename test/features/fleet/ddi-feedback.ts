import { isActive, type Action, type Result } from './ddi-state.ts';

interface FeedbackBody {
  status?: { execution?: string; result?: { finished?: string }; details?: string[] };
  confirmation?: string;
  details?: string[];
}

const MOST_DETAILS = 50;
const MOST_ENTRIES = 1000;

/** A device's word on an action, or on a request to cancel it or to agree to it. */
export function feedback(action: Action, kind: string, body: unknown): Result {
  const given = body as FeedbackBody;
  const details = given.details ?? given.status?.details ?? [];
  const refusal = refusalOf(details);
  if (refusal !== undefined) return refusal;
  if (kind === 'confirmationBase') return confirm(action, given.confirmation, details);
  const { execution, result: { finished } = {} } = given.status ?? {};
  if (execution === undefined || finished === undefined) return { status: 400 };
  if (kind === 'cancelAction') return cancelFeedback(action, { execution, details });
  return !isActive(action) ? { status: 410 } : progress(action, { execution, finished, details });
}

function refusalOf(details: readonly string[]): Result | undefined {
  if (details.some((detail) => /<[a-z!/][^>]*>/i.test(detail))) return { status: 400 };
  const count = details.reduce((sum, detail) => sum + Math.ceil(detail.length / 512), 0);
  return count > MOST_DETAILS ? quota() : undefined;
}

function confirm(action: Action, word: string | undefined, details: string[]): Result {
  if (action.state !== 'waiting') return { status: 404 };
  action.messages.push(...details);
  if (word === 'confirmed') action.state = 'running';
  return { status: 200 };
}

function progress(
  action: Action,
  { execution, finished, details }: { execution: string; finished: string; details: string[] },
): Result {
  if (action.entries >= MOST_ENTRIES && execution !== 'closed') return quota();
  action.entries += 1;
  action.messages.push(...details);
  if (execution === 'closed') action.state = finished === 'failure' ? 'error' : 'finished';
  else if (execution === 'downloaded' && action.how.type === 'downloadonly') {
    action.state = 'downloaded';
  }
  return { status: 200 };
}

function quota(): Result {
  return { status: 429, content: { errorCode: 'hawkbit.server.error.quota.tooManyEntries' } };
}

function cancelFeedback(
  action: Action,
  { execution, details }: { execution: string; details: string[] },
): Result {
  if (action.state !== 'canceling') return { status: 405 };
  action.messages.push(...details);
  if (execution === 'closed') action.state = 'canceled';
  else if (execution === 'rejected') action.state = 'running';
  return { status: 200 };
}
