import { readFile } from 'node:fs/promises';
import { reasonOf } from '../../errors.ts';
import { foreignSource } from '../../http/guard.ts';
import { isSameSecret } from '../../http/session/sessions.ts';
import type { CallerRequest } from './caller.ts';
import type { Failure } from './failure.ts';
import { isAdminPath, isReading } from './routes.ts';

/** A valid session of the panel; `token` guards it against requests forged by other sites. */
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
     * Whether the token may go along, which may be an administrator's: without an `Authorization`
     * of the caller's, and not to the forge's administration. @param path below the API root
     */
    mayLend: (request: CallerRequest, path: string): boolean =>
      tokenFile !== '' && request.headers.authorization === undefined && !isAdminPath(path),
    /** @returns the `Authorization`; undefined without a session of this origin; or the refusal */
    lend: async (request: CallerRequest): Promise<string | undefined | Failure> => {
      // Another origin's page sends it along, and a forge may let that read (Fetch, CORS).
      const isForeign = foreignSource((name) => request.headers[name]?.toString()) !== undefined;
      const found = isForeign ? undefined : await session(request);
      if (found === undefined) return undefined;
      const message = isReading(request.method) ? undefined : whyNoChange(request, found);
      return message === undefined ? readToken(tokenFile) : { code: 'forbidden', message };
    },
  };
}

function whyNoChange({ headers }: CallerRequest, { mayWrite, token }: PanelSession) {
  if (!mayWrite) return "cannot change anything with the device's token: this user may only read";
  const given = headers['x-csrf-token'];
  const isSame = typeof given === 'string' && token !== '' && isSameSecret(given, token);
  return isSame
    ? undefined
    : "cannot change anything with the device's token: X-CSRF-Token is missing or wrong";
}

/** Read each time: a new token counts. Every forge of this family knows the scheme `token`. */
async function readToken(file: string): Promise<string | Failure> {
  try {
    const token = (await readFile(file, 'latin1')).trim();
    if (/^[\x21-\x7e]{1,4096}$/.test(token)) return `token ${token}`;
    const message = 'cannot use forge.token_file: it does not hold one token';
    return { code: 'unavailable', message };
  } catch (error) {
    return { code: 'unavailable', message: `cannot read forge.token_file: ${reasonOf(error)}` };
  }
}
