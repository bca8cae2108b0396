import { createHash } from 'node:crypto';
import {
  chmod,
  chown,
  lchown,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { checkSizes } from '../../../src/features/fleet/agent/transfer.ts';
import { createDownloads } from '../../../src/features/fleet/records/downloads.ts';
import type { Work } from '../../../src/features/fleet/rollout/work.ts';
import { failureFacts } from '../../../src/jobs/explanation.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const NOBODY = 65534;
const FILE = { sha256: createHash('sha256').update('bytes').digest('hex'), ending: 'ipk' };
let everybodys: string;
let victim: string;

test.each([
  ['has other bytes', 'BYTES', 'bad_request', 'checksum'],
  ['is longer than announced', 'bytes and more', 'too_large', 'checksum'],
  ['is shorter than announced', 'byte', 'upstream_unreachable', 'download_failed'],
])('a file that %s is told with a code for that', async (...row) => {
  const [, sent, code, errorCode] = row;
  const answer = Object.assign(Readable.from([Buffer.from(sent)]), {
    statusCode: 200,
    headers: {},
  });
  const fetched = createDownloads(join(await temporaryFolder(), 'fleet')).fetch(
    { ...FILE, bytes: 5, label: 'the file' },
    () => Promise.resolve(answer as unknown as IncomingMessage),
    { signal: AbortSignal.timeout(20_000) },
  );

  const error: unknown = await fetched.catch((reason: unknown) => reason);

  expect(error).toMatchObject({ code });
  expect(failureFacts(error).errorCode).toBe(errorCode);
});

test('files that are larger than this device allows are told with a code for that', () => {
  const file = { ...FILE, bytes: 2 * 1024 ** 2, label: 'the file' };
  const work = { files: [file], signatures: [] } as unknown as Work;
  expect(() => checkSizes(work, 1)).toThrow(
    expect.objectContaining({
      code: 'too_large',
      explanation: expect.objectContaining({ code: 'not_allowed' }) as unknown,
    }),
  );
});

describe.skipIf(process.getuid?.() !== 0)('files of actions below a folder for everybody', () => {
  beforeEach(async () => {
    everybodys = await mkdtemp(join(tmpdir(), 'depotd-downloads-'));
    await chmod(everybodys, 0o1777);
    victim = await mkdtemp(join(tmpdir(), 'depotd-victim-'));
    await writeFile(join(victim, `${FILE.sha256}.ipk`), 'bytes');
    await writeFile(join(victim, 'passwd'), '');
    await mkdir(join(everybodys, 'depotd'));
  });

  afterEach(async () => {
    for (const folder of [everybodys, victim]) await rm(folder, { recursive: true });
  });

  test.each(['the folder', 'the folder above it'])(
    'are neither removed nor believed by way of a link in the place of %s',
    async (which) => {
      const above = join(everybodys, 'depotd');
      if (which === 'the folder') {
        await chown(above, NOBODY, NOBODY);
        await symlink(victim, join(above, 'fleet'));
        await lchown(join(above, 'fleet'), NOBODY, NOBODY);
      } else {
        await rm(above, { recursive: true });
        await symlink(victim, above);
        await lchown(above, NOBODY, NOBODY);
      }
      const folder = which === 'the folder' ? join(above, 'fleet') : `${above}/.`;
      const downloads = createDownloads(folder);

      expect(await downloads.isWhole(FILE)).toBe(false);
      await downloads.keepOnly(new Set());

      expect((await readdir(victim)).sort()).toEqual([`${FILE.sha256}.ipk`, 'passwd']);
    },
  );

  test('are found and removed in a folder of root', async () => {
    const folder = join(everybodys, 'depotd/fleet');
    await mkdir(folder, { mode: 0o700 });
    await writeFile(join(folder, `${FILE.sha256}.ipk`), 'bytes');
    const downloads = createDownloads(folder);

    expect(await downloads.isWhole(FILE)).toBe(true);
    await downloads.keepOnly(new Set());

    expect(await readdir(folder)).toEqual([]);
  });
});
