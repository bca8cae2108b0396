import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Paths of a private key and its certificate, PEM. */
export interface Identity {
  readonly key: string;
  readonly cert: string;
}

/** A certificate for `localhost` that vouches for itself, good for two days, in the folder. */
export async function createIdentity(folder: string, name = 'server'): Promise<Identity> {
  const identity = { key: join(folder, `${name}.key`), cert: join(folder, `${name}.pem`) };
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
    ...['-keyout', identity.key, '-out', identity.cert],
  ]);
  return identity;
}
