import type { Context } from 'hono';
import type * as v from 'valibot';
import type { CheckedParameters } from './parameters.ts';

/** The session that a request comes from; its token is what changing requests must carry. */
export interface Session {
  /** User whose session it is; empty if there is only one. */
  user: string;
  token: string;
  /** The token of the daemon's former run, for pages still open; undefined if there was none. */
  formerToken?: string | undefined;
  /** Whether it may change anything. */
  mayWrite: boolean;
}

export interface ApiRequest<Params> {
  params: Params;
  context: Context;
  /** The session; there for every route whose access is `session`. */
  session: Session;
  /**
   * For an answer that goes on: `onEnd` is called when the session has ended, or cannot be asked
   * for. @returns what ends the watch
   */
  watchSession: (onEnd: () => void) => () => void;
  /**
   * A ticket with which a browser may open that address once, in place of the session's key.
   * @throws DepotError bad_request if it is no address below the panel's base
   */
  issueTicket: (path: string) => string;
}

/** An entry of the interface: server, answer 405, access matrix and OpenAPI come from the table. */
export interface Route {
  method: 'GET' | 'POST';
  /** Below the panel's base if it begins with `admin/`, else from the root. */
  path: string;
  summary: string;
  /** Who may call: anybody, or somebody with a session of the panel. */
  access: 'open' | 'session';
  /** Whether the request must carry the session's token. */
  needsToken: boolean;
  /** Whether only a session that may change something may call. */
  needsWrite: boolean;
  /** Whether the answer goes on for ever: opening it does not count as use of the session. */
  isStream: boolean;
  /** Parameters that must not stand in the query, which servers write to their logs. */
  bodyOnly: readonly string[];
  /**
   * Whether the handler reads the body itself: then parameters come from the query alone, and the
   * token may be left out but not be wrong.
   */
  acceptsUpload: boolean;
  /** Whether failures, too, have the shape of a task result. */
  isTask: boolean;
  params: v.ObjectEntries;
  handle: (request: ApiRequest<CheckedParameters>) => Response | Promise<Response>;
}

interface RouteOptions<Entries extends v.ObjectEntries> {
  path: string;
  summary: string;
  /** Parameters of the route; default: none. */
  params?: Entries;
  bodyOnly?: readonly string[];
  handle: (
    request: ApiRequest<v.InferOutput<v.ObjectSchema<Entries, undefined>>>,
  ) => Response | Promise<Response>;
}

/** A read: needs a session, no token. */
export const get = maker('GET', {});
/** A read that answers without log-in. */
export const openGet = maker('GET', { access: 'open' });
/** A read whose answer goes on for ever. */
export const getStream = maker('GET', { isStream: true });
/** A change that has a proof of its own in its parameters, and needs no session: a log-in. */
export const openPost = maker('POST', { access: 'open' });
/** A change: needs the session's token. */
export const post = maker('POST', { needsToken: true });
/** A change of nothing but the session itself, open to those who may only read. */
export const postAsReader = maker('POST', { needsToken: true, needsWrite: false });
/** A change whose answer, and whose every refusal, is a task result. */
export const postTask = maker('POST', { needsToken: true, isTask: true });
/** A task whose request is a file: the handler reads the body itself, and the token is optional. */
export const postUpload = maker('POST', { acceptsUpload: true, isTask: true });

/** Parameters of a route that has none: the compiler refuses a handler that reads one. */
const NO_PARAMS = {};

type RouteMaker = <const Entries extends v.ObjectEntries = typeof NO_PARAMS>(
  options: RouteOptions<Entries>,
) => Route;

function maker(method: Route['method'], flags: Partial<Route>): RouteMaker {
  return (options) => ({
    access: 'session',
    needsToken: false,
    needsWrite: method === 'POST',
    isStream: false,
    bodyOnly: [],
    acceptsUpload: false,
    isTask: false,
    params: NO_PARAMS,
    ...options,
    method,
    // The guard hands over only what these very schemas let through.
    handle: options.handle as Route['handle'],
    ...flags,
  });
}
