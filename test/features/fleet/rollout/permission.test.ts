import { expect, test } from 'vitest';

import { checkAllowed } from '../../../../src/features/fleet/rollout/permission.ts';
import type { Work } from '../../../../src/features/fleet/rollout/work.ts';

const MIB = 1024 ** 2;
const [CONTENT, SIGNATURE] = ['a'.repeat(64), 'b'.repeat(64)];

/** A rollout of one program with its signature. */
function workOf(bytes: number, signatureBytes: number): Work {
  return {
    title: 'tool 1.0',
    files: [
      {
        sha256: CONTENT,
        bytes,
        label: 'tool.run',
        ending: 'run',
        kind: 'program',
        signature: SIGNATURE,
      },
    ],
    signatures: [
      { sha256: SIGNATURE, bytes: signatureBytes, label: 'tool.run.sig', ending: 'sig' },
    ],
    install: [],
    upgrade: [],
    remove: [],
    templates: [],
    settings: {},
    selfUpgrade: false,
    collect: [],
    reboot: false,
    verify: [],
    isOfSystem: false,
  };
}

const allowed = { allow: ['run'], settings: [] };
const check =
  (work: Work, keyFile: string): (() => void) =>
  () =>
    checkAllowed(work, { ...allowed, key_file: keyFile });

test.each([
  ['a file', workOf(64 * MIB + 1, 100), 'tool.run has 64.00 MiB, and 64.00 MiB are the limit'],
  ['a signature', workOf(100, 4097), 'tool.run.sig has 4.00 KiB, and 4.00 KiB are the limit'],
])('%s that is too large to be checked by its signature is not fetched', (_, work, reason) => {
  expect(check(work, '/etc/depotd/fleet.pub')).toThrow(reason);
});

test('without a key, and up to the limit, any size is fetched', () => {
  expect(check(workOf(1024 * MIB, 100), '')).not.toThrow();
  expect(check(workOf(64 * MIB, 4096), '/etc/depotd/fleet.pub')).not.toThrow();
});
