import { open, readFile } from 'node:fs/promises';
import { DepotError, reasonOf } from '../../../errors.ts';
import type { FleetSettings } from '../options.ts';

/** What goes into the TLS handshake, and into the head of each request. */
export interface Credentials {
  /** Value of `Authorization`; undefined if the client certificate says who asks. */
  authorization?: string | undefined;
  /** PEM. With an authority of the owner's no other one counts. */
  tls: { ca?: string | string[]; cert?: string; key?: string };
}

/** Read anew for each exchange: a new token counts at once. @throws DepotError unavailable */
export async function readCredentials(settings: FleetSettings): Promise<Credentials> {
  const { token_file: token, ca_file: ca, cert_file: cert, cert_key_file: key } = settings;
  return {
    authorization:
      token === '' ? undefined : authorizationOf(await readSecret('token_file', token)),
    tls: {
      ...(ca === '' ? {} : { ca: await readNamed('ca_file', ca) }),
      ...(cert === '' ? {} : { cert: await readNamed('cert_file', cert) }),
      ...(key === '' ? {} : { key: await readSecret('cert_key_file', key) }),
    },
  };
}

/** `TargetToken TOKEN`, `GatewayToken TOKEN`, or the token of this target alone. */
function authorizationOf(text: string): string {
  const match = /^(?:(TargetToken|GatewayToken) +)?([\x21-\x7e]{1,4096})$/.exec(text.trim());
  if (match === null) {
    throw new DepotError('unavailable', 'cannot use fleet.token_file: it does not hold one token');
  }
  return `${match[1] ?? 'TargetToken'} ${match[2] ?? ''}`;
}

/** The file that an option of the fleet's names. @throws DepotError unavailable */
export async function readNamed(option: string, path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw unusable(option, reasonOf(error), error);
  });
}

/** A secret that others may read is none. */
async function readSecret(option: string, path: string): Promise<string> {
  await using file = await open(path).catch((error: unknown) => {
    throw unusable(option, reasonOf(error), error);
  });
  if (((await file.stat()).mode & 0o077) !== 0) {
    throw unusable(option, 'others may read it; mode 0600 is expected');
  }
  return await file.readFile('utf8');
}

export function unusable(option: string, why: string, cause?: unknown): DepotError {
  return new DepotError('unavailable', `cannot use fleet.${option}: ${why}`, { cause });
}
