import { setTimeout as delay } from 'node:timers/promises';
import { DepotError } from '../../errors.ts';
import type { RunResult } from '../../device/command.ts';
import { run } from '../../device/exec.ts';
import type { PanelBus, PanelLogin } from './ports.ts';
import { createConcurrencyLimit, type ConcurrencyLimit } from '../../device/concurrency-limit.ts';

/** rpcd answers within milliseconds; counted from the question, waiting for a turn included. */
const TIMEOUT_MS = 3000;
/** Far more than a session holds: other pages of the panel may keep values of their own in it. */
const MOST_BYTES = 256 * 1024;
/** Of those who are known, and as many again of those who are not. */
const MOST_AT_ONCE = 2;
const MOST_WAITING = 64;

/**
 * rpcd's sessions, asked with ubus(1): `ubus -S call session get`. Each question renews the
 * session's idle time, as the panel's own does (docs/reference/rpcd-sessions.md).
 */
export function createPanelBus({ environment }: { environment: Record<string, string> }): PanelBus {
  const createQueue = (): ConcurrencyLimit =>
    createConcurrencyLimit({
      most: MOST_AT_ONCE,
      mostWaiting: MOST_WAITING,
      busy: `cannot ask ubus: ${MOST_WAITING} requests wait for it already`,
    });
  const turns = { known: createQueue(), strangers: createQueue() };
  return {
    findLogin: async ({ id, isKnown }) => {
      const takeTurn = isKnown ? turns.known : turns.strangers;
      const end = new AbortController();
      // A process that does not end on its signal holds its turn, not those who wait for an answer.
      const tooLate = delay(TIMEOUT_MS, undefined, { signal: end.signal }).catch(() => undefined);
      try {
        const result = await Promise.race([takeTurn(() => ask(id, environment)), tooLate]);
        if (result === undefined) {
          throw new DepotError(
            'unavailable',
            `cannot ask the panel who this is: ubus gave no answer in ${TIMEOUT_MS} ms`,
          );
        }
        return readAnswer(result);
      } finally {
        end.abort();
      }
    },
  };
}

function ask(id: string, environment: Record<string, string>): Promise<RunResult> {
  // Without -S a call that fails is repeated on stderr, session id and all.
  const argv: [string, ...string[]] = [
    'ubus',
    '-S',
    'call',
    'session',
    'get',
    JSON.stringify({ ubus_rpc_session: id }),
  ];
  return run({ argv, environment, cwd: '/' }, { timeoutMs: TIMEOUT_MS, maxBytes: MOST_BYTES });
}

/**
 * UBUS_STATUS_NOT_FOUND: rpcd knows no such session, or there is no rpcd, which has none either.
 */
const NOT_FOUND = 4;
/** UBUS_STATUS_PERMISSION_DENIED. */
const DENIED = 6;

/** @throws DepotError unavailable where the answer does not tell whether there is such a session */
function readAnswer({ exitCode, stdout }: RunResult): PanelLogin | undefined {
  if (exitCode === NOT_FOUND || exitCode === DENIED) return undefined;
  if (exitCode !== 0) {
    throw new DepotError(
      'unavailable',
      `cannot ask the panel who this is: ubus ${exitCode === undefined ? 'did not run to its end' : `ended with ${exitCode}`}`,
    );
  }
  return parseSession(stdout);
}

/**
 * What `ubus -S call session get` prints: `{"values":{"token":"…","username":"root"}}`. A session
 * that nobody logged in to, such as the one of zeros that rpcd keeps for everybody, has no user
 * name; one that the panel has not finished has no token.
 * @throws DepotError unavailable where the text is something else
 */
export function parseSession(text: string): PanelLogin | undefined {
  const values = fieldOf(parseJson(text), 'values');
  if (typeof values !== 'object' || values === null) {
    throw new DepotError(
      'unavailable',
      'cannot ask the panel who this is: ubus printed something that is no session',
    );
  }
  const username = fieldOf(values, 'username');
  const token = fieldOf(values, 'token');
  return isText(username) && isText(token) ? { username, token } : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller refuses it like any other text that is no session.
    return undefined;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
