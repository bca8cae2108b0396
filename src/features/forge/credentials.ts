import { readFile } from 'node:fs/promises';
import { reasonOf } from '../../errors.ts';
import { foreignSource } from '../../http/guard.ts';
import { isSameSecret } from '../../http/session/sessions.ts';
import type { CallerRequest } from './caller.ts';
import type { Failure } from './failure.ts';
import { isAdminPath } from './routes.ts';

/**
 * A valid session of the panel; `token` is the one that guards it against requests forged by other
 * sites.
 */
export interface PanelSession {
  token: string;
  /** Whether its user may change anything. */
  mayWrite: boolean;
}

export type Credentials = ReturnType<typeof createCredentials>;

interface CredentialOptions {
  /** File with the device's own forge token; empty: there is none. */
  tokenFile: string;
  session: (request: CallerRequest) => Promise<PanelSession | undefined>;
}

/** Lends the device's own forge token to the panel. */
export function createCredentials({ tokenFile, session }: CredentialOptions) {
  return {
    /**
     * Whether a request might be lent the token: it brings no `Authorization` of its own, and its
     * path below the API root is not the forge's administration, for the token may be an
     * administrator's.
     */
    mayLend: (request: CallerRequest, path: string): boolean =>
      tokenFile !== '' && request.headers.authorization === undefined && !isAdminPath(path),
    /**
     * @returns the `Authorization` to send; undefined: none, as there is no valid session of this
     *   origin; or why the request is refused
     */
    lend: async (request: CallerRequest): Promise<string | undefined | Failure> => {
      const found = isForeign(request) ? undefined : await session(request);
      if (found === undefined) return undefined;
      if (!isReading(request.method) && !found.mayWrite) {
        return {
          code: 'forbidden',
          message: "cannot change anything with the device's token: this user may only read",
        };
      }
      if (!isReading(request.method) && !isSame(request.headers['x-csrf-token'], found.token)) {
        return {
          code: 'forbidden',
          message:
            "cannot change anything with the device's token: X-CSRF-Token is missing or wrong",
        };
      }
      return readToken(tokenFile);
    },
  };
}

/**
 * A page of another origin has its browser send the session along, and a forge may allow the page
 * to read the answer (Fetch standard, CORS).
 */
function isForeign({ headers }: CallerRequest): boolean {
  const valueOf = (name: string): string | undefined => headers[name]?.toString();
  return foreignSource(valueOf) !== undefined;
}

function isReading(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

function isSame(given: string | string[] | undefined, expected: string): boolean {
  return typeof given === 'string' && expected !== '' && isSameSecret(given, expected);
}

/**
 * Read each time, so that a new token counts at once. `token` is the scheme that every forge of
 * this family knows.
 */
async function readToken(file: string): Promise<string | Failure> {
  try {
    const token = (await readFile(file, 'latin1')).trim();
    if (/^[\x21-\x7e]{1,4096}$/.test(token)) return `token ${token}`;
    return {
      code: 'unavailable',
      message: 'cannot use forge.token_file: it does not hold one token',
    };
  } catch (error) {
    return { code: 'unavailable', message: `cannot read forge.token_file: ${reasonOf(error)}` };
  }
}
