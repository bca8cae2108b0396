import { parseJson } from '../../device/durable-file.ts';
import { orElse } from '../../errors.ts';
import { segmentsOf, type Route } from './routes.ts';
import type { ResponseSink } from './upstream/call.ts';

type WikiEvent = 'wiki.page.created' | 'wiki.page.edited' | 'wiki.page.deleted';

/** What happened at the forge through this device, and was confirmed. Names are decoded. */
export type ForgeEvent =
  | {
      event: WikiEvent;
      owner: string;
      repo: string;
      page?: string | undefined;
      title?: string | undefined;
    }
  | {
      event: 'pull_request.target_branch.changed';
      owner: string;
      repo: string;
      index: number;
      from?: string | undefined;
      to: string;
    };

/** A change of a target branch; `from` is the branch before, if it could be learnt. */
export interface TargetChange {
  from: string | undefined;
  to: string;
}

export interface EventWatch {
  route: Route;
  /** Raw path below the API root. */
  path: string;
  change: TargetChange | undefined;
  publish: (event: ForgeEvent) => void;
}

/** Whether an operation may lead to an event. */
export function mayNotify({ method, pattern }: Route): boolean {
  return method !== 'GET' && WIKI_EVENTS.has(`${method} ${pattern}`);
}

/** Whether an operation may change a target branch, so that its body must be looked into. */
export function mayRetarget({ method, pattern }: Route): boolean {
  return method === 'PATCH' && pattern === '/repos/{owner}/{repo}/pulls/{index}';
}

const WIKI = '/repos/{owner}/{repo}/wiki';
const WIKI_EVENTS = new Map<string, WikiEvent>([
  [`POST ${WIKI}/new`, 'wiki.page.created'],
  [`PATCH ${WIKI}/page/{pageName}`, 'wiki.page.edited'],
  [`DELETE ${WIKI}/page/{pageName}`, 'wiki.page.deleted'],
]);

/** A wiki page's title and name begin the answer; its content, which may be large, follows. */
const LOOKED_AT_BYTES = 16_384;

/** Publishes the event when an answer by which the forge confirms it is over, or broken off. */
export function watchForEvent(sink: ResponseSink, watch: EventWatch): ResponseSink {
  let isConfirmed = false;
  let beginning = '';
  const over = (): void => {
    const event = isConfirmed ? eventOf(watch, beginning) : undefined;
    isConfirmed = false;
    if (event !== undefined) watch.publish(event);
  };
  return {
    head: (head, hasMore) => {
      isConfirmed = head.status >= 200 && head.status <= 204;
      sink.head(head, hasMore);
    },
    body: (piece, isLast, resume) => {
      if (isConfirmed && beginning.length < LOOKED_AT_BYTES) {
        beginning += piece.toString('latin1', 0, LOOKED_AT_BYTES - beginning.length);
      }
      return sink.body(piece, isLast, resume);
    },
    end: () => {
      over();
      sink.end();
    },
    fail: (failure) => {
      over();
      sink.fail(failure);
    },
  };
}

function eventOf({ route, path, change }: EventWatch, beginning: string): ForgeEvent | undefined {
  const [, owner = '', repo = '', , where = '', name] = segmentsOf(path).map(decoded);
  const wiki = WIKI_EVENTS.get(`${route.method} ${route.pattern}`);
  if (wiki !== undefined) {
    const page = textAt(beginning, 'sub_url') ?? (where === 'page' ? name : undefined);
    const title = textAt(beginning, 'title');
    return { event: wiki, owner, repo, page: page && decoded(page), title };
  }
  if (change === undefined || change.from === change.to) return undefined;
  return {
    event: 'pull_request.target_branch.changed',
    owner,
    repo,
    index: Number(where),
    ...change,
  };
}

/**
 * The first field of that name; the forge writes a page's own before those within.
 * @returns undefined if there is none, or it is not JSON after all: the event goes without it
 */
function textAt(beginning: string, key: 'title' | 'sub_url'): string | undefined {
  const [, found = ''] = new RegExp(`"${key}":\\s*("(?:[^"\\\\]|\\\\.)*")`).exec(beginning) ?? [];
  const text = parseJson(Buffer.from(found, 'latin1').toString('utf8'));
  return typeof text === 'string' ? text : undefined;
}

function decoded(text: string): string {
  // A name that is not UTF-8 stays as sent.
  return orElse(() => decodeURIComponent(text), text);
}
