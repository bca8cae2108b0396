import { undocumentedIn } from './documented-answers.ts';

/**
 * Each good answer that a test gets from a daemon fits its schema in openapi.json, or the request
 * fails: whoever changes an answer changes its description.
 */
const plainFetch = globalThis.fetch;

async function checkedFetch(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const answer = await plainFetch(input, init);
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
  const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
  if (!answer.ok || !isJson || method === 'HEAD') return answer;
  const path = new URL(input instanceof Request ? input.url : input).pathname;
  // A body that is cut off is the test's own to see.
  const body: unknown = await answer
    .clone()
    .json()
    .catch(() => undefined);
  if (body === undefined) return answer;
  const fault = await undocumentedIn({ method, path, status: answer.status }, body);
  if (fault !== undefined) throw new Error(fault);
  return answer;
}

// Files that share a process share it, too.
if (plainFetch.name !== checkedFetch.name) globalThis.fetch = checkedFetch;
