import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DepotError, reasonOf, systemCode } from '../../errors.ts';
import { replaceFile } from '../../device/durable-file.ts';
import { createConcurrencyLimit, type ConcurrencyLimit } from '../../device/concurrency-limit.ts';
import type { AttemptSource } from './attempt-source.ts';

interface Hash {
  /** scrypt's N, r and p (RFC 7914). */
  cost: number;
  blockSize: number;
  parallelization: number;
  salt: Buffer;
  key: Buffer;
}

/** Cost of scrypt: of the equals in OWASP's Password Storage Cheat Sheet the one of 16 MiB. */
const NEW_HASH = { cost: 2 ** 14, blockSize: 8, parallelization: 5 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const MOST_WAITING = 32;

export type Password = ReturnType<typeof createPassword>;

/**
 * The device's password: an scrypt hash in the file `password` of the state folder, read anew each
 * time, so that an owner who has forgotten it can remove the file. One check runs at a time, and
 * one more for who is trusted: each needs 16 MiB and a core. What it does throws DepotError
 * unavailable if the file cannot be read.
 */
export function createPassword(stateDir: string) {
  const file = join(stateDir, 'password');
  const createLimit = (): ConcurrencyLimit =>
    createConcurrencyLimit({
      most: 1,
      mostWaiting: MOST_WAITING,
      busy: `cannot ask for the password: ${MOST_WAITING} requests wait for it already`,
    });
  const limits = { trusted: createLimit(), strangers: createLimit() };
  const write = async (text: string): Promise<void> => {
    const salt = randomBytes(SALT_BYTES);
    const key = await keyOf(text, { ...NEW_HASH, salt, key: Buffer.alloc(KEY_BYTES) });
    await replaceFile(file, formatHash({ ...NEW_HASH, salt, key }));
  };
  return {
    isSet: async (): Promise<boolean> => (await readHashFile(file)) !== undefined,
    /** false if none is set. Takes a good part of a second. */
    matches: (
      text: string,
      { isTrusted, client }: Pick<AttemptSource, 'isTrusted' | 'client'>,
    ): Promise<boolean> =>
      (isTrusted ? limits.trusted : limits.strangers)(async () => {
        for (;;) {
          const line = await readHashFile(file);
          if (line === undefined) return false;
          const hash = needHash(line, file);
          const isRight = timingSafeEqual(await keyOf(text, hash), hash.key);
          // A password that was replaced meanwhile lets nobody in any more.
          if ((await readHashFile(file)) === line) return isRight;
        }
      }, client),
    set: (text: string): Promise<void> => limits.trusted(() => write(text)),
    /** Whoever comes second finds the first one's. @throws DepotError forbidden if one is set */
    setFirst: (text: string): Promise<void> =>
      limits.trusted(async () => {
        if ((await readHashFile(file)) === undefined) return write(text);
        throw new DepotError('forbidden', 'cannot set the first password: one is set by now');
      }),
  };
}

/**
 * @returns undefined only if there is no file: one that cannot be read must not pass for a password
 *   that was never set
 */
async function readHashFile(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'latin1');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new DepotError('unavailable', `cannot check the password: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

function formatHash({ cost, blockSize, parallelization, salt, key }: Hash): string {
  const texts = [salt, key].map((bytes) => bytes.toString('base64url'));
  return `${['scrypt', cost, blockSize, parallelization, ...texts].join('$')}\n`;
}

const HASH_FORM = /^scrypt\$(\d{1,7})\$(\d{1,2})\$(\d{1,2})\$([\w-]{16,})\$([\w-]{43})\n?$/;

/** @throws DepotError unavailable */
function needHash(line: string, file: string): Hash {
  const [, cost, blockSize, parallelization, salt = '', key = ''] = HASH_FORM.exec(line) ?? [];
  if (cost === undefined) {
    const message = `cannot check the password: ${file} is damaged; remove it and set a new one`;
    throw new DepotError('unavailable', message);
  }
  return {
    cost: Number(cost),
    blockSize: Number(blockSize),
    parallelization: Number(parallelization),
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  };
}

/** Typed as Unicode's NFC or NFD it is the same password. */
function keyOf(
  text: string,
  { cost, blockSize, parallelization, salt, key }: Hash,
): Promise<Buffer> {
  const options = { cost, blockSize, parallelization, maxmem: 256 * cost * blockSize };
  return new Promise((resolve, reject) => {
    scrypt(text.normalize('NFC'), salt, key.length, options, (error, derived) =>
      error === null ? resolve(derived) : reject(error),
    );
  });
}
