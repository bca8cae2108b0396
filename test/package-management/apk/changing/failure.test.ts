import { expect, test } from 'vitest';

import { explain } from '../../../../src/package-management/apk/changing/failure.ts';
import { processorMs } from '../../../support/processor-time.ts';

/** What apk-tools 3.0.5 prints. */
const ROWS: [string, string, string][] = [
  [
    'ERROR: Unable to lock database: Resource temporarily unavailable\nERROR: Failed to open apk database: Resource temporarily unavailable\n',
    'locked',
    'another program holds the lock of apk',
  ],
  [
    'ERROR: demo-1.0-r1: failed to extract usr/share/big/1: No space left on device\nERROR: demo-1.0-r1: No space left on device\n',
    'no_space',
    'the disk is full: apk says "demo-1.0-r1: failed to extract usr/share/big/1: No space left on device"',
  ],
  [
    'ERROR: System state may be inconsistent: failed to write database: No space left on device\n',
    'no_space',
    'the disk is full',
  ],
  [
    'ERROR: unable to select packages:\n  nosuch (no such package):\n    required by: world[nosuch]\n',
    'not_found',
    'no feed offers nosuch',
  ],
  [
    'ERROR: unable to select packages:\n  libx (no such package):\n    required by: demo-1.0-r1[libx]\n',
    'dependency_missing',
    'demo needs libx, which no feed offers',
  ],
  [
    'ERROR: unable to select packages:\n  kernel (no such package):\n    required by: kmod-x-6.6-r1[kernel=6.6.1]\n',
    'kernel_mismatch',
    'kmod-x is made for another kernel: it needs kernel=6.6.1',
  ],
  [
    'ERROR: unable to select packages:\n  demo-1.0-r1:\n    breaks: enemy-1.0-r1[!demo]\n    satisfies: world[demo]\n',
    'dependency_conflict',
    'enemy and demo exclude each other',
  ],
  [
    'ERROR: unable to select packages:\n  kernel-6.12.87~aa-r1:\n    breaks: kmod-x-6.6-r1[kernel=6.6.1~bb-r1]\n',
    'kernel_mismatch',
    'kmod-x is made for another kernel: it needs kernel=6.6.1~bb-r1',
  ],
  [
    'ERROR: unable to select packages:\n  libdemo-1.0-r1:\n    breaks: world[libdemo=9]\n',
    'held',
    'libdemo is held: /etc/apk/world asks for libdemo=9',
  ],
  [
    'ERROR: unable to select packages:\n  demo-1.0-r1:\n    error: uninstallable arch: mips_24kc\n',
    'wrong_architecture',
    'demo is made for the architecture mips_24kc',
  ],
  [
    'ERROR: unable to select packages:\n  libx-2.0-r1:\n    masked in: @edge\n    satisfies: demo-1.0-r1[libx>=2]\n  demo-1.0-r1:\n    masked in: @edge\n    satisfies: world[demo]\n',
    'dependency_missing',
    'demo is offered by a feed with the tag @edge alone',
  ],
  [
    'ERROR: etc/apk/commit_hooks.d/policy: exited with error 3\n',
    'not_allowed',
    'the program /etc/apk/commit_hooks.d/policy refuses it: it exited with error 3',
  ],
  [
    "ERROR: unable to select packages:\n  libabi (virtual):\n    note: please select one of the 'provided by'\n          packages explicitly\n",
    'dependency_missing',
    'libabi stands for several packages',
  ],
  [
    'ERROR: demo-1.0-r1: trying to overwrite usr/bin/x owned by other-2.0-r3.\n',
    'file_conflict',
    'demo would replace /usr/bin/x, which belongs to other',
  ],
  [
    'ERROR: /tmp/up.apk: UNTRUSTED signature\n',
    'signature',
    'the signature of /tmp/up.apk is not trusted',
  ],
  [
    'ERROR: demo-1.0-r1: ADB integrity error\n',
    'checksum',
    'what was downloaded of demo is not what the index of the feed says',
  ],
  [
    'ERROR: demo-1.0-r1: file format is invalid or inconsistent\n',
    'damaged_package',
    'what was downloaded of demo is no package',
  ],
  [
    'ERROR: wget: exited with error 8\nERROR: demo-1.0-r1: unexpected end of file\n',
    'download_failed',
    'demo cannot be downloaded: the server does not have it',
  ],
  [
    'ERROR: demo-1.0-r1: unexpected end of file\n',
    'download_failed',
    'demo cannot be downloaded whole',
  ],
  [
    'ERROR: Not continuing due to stale/unavailable repositories. Use --force-missing-repositories to continue.\n',
    'download_failed',
    'the index of a feed cannot be fetched',
  ],
  [
    'ERROR: Unable to read database: FDB format error\n',
    'damaged_database',
    'the records of apk cannot be used',
  ],
  [
    '(1/1) Installing demo (1.0-r1)\n  Executing demo-1.0-r1.post-install\n  * one\n  * cannot do it\nERROR: lib/apk/exec/demo-1.0-r1.post-install: exited with error 3\n1 error; 163 B in 2 packages\n',
    'script_failed',
    'the script of demo-1.0-r1 that runs after its installation ended with exit code 3: "cannot do it"',
  ],
  [
    'ERROR: Unable to open log: Read-only file system\n',
    'unknown',
    'apk says "Unable to open log: Read-only file system"',
  ],
];

test.each(ROWS)('of %j it makes %s: %s', (output, code, reason) => {
  expect(explain({ output, names: ['demo'] })).toMatchObject({
    code,
    reason: expect.stringContaining(reason) as string,
  });
});

test('what apk runs next is no piece of what it complains of', () => {
  const output =
    '  Executing a-1.0-r1.pre-install\n' +
    'ERROR: lib/apk/exec/a-1.0-r1.pre-install: killed by signal 9\n' +
    '  Executing a-1.0-r1.post-install\n';

  expect(explain({ output, names: ['a'] })?.reason).toBe(
    'the script of a-1.0-r1 that runs before its installation was killed by signal 9',
  );
});

test('what a script prints is no complaint of apk', () => {
  const printed = ROWS.flatMap(([output]) => output.split('\n').map((line) => `  * ${line}\n`));

  expect(explain({ output: printed.join(''), names: ['demo'] })).toBeUndefined();
});

test.each([
  ['one line of 64 KiB', 'x'.repeat(64 * 1024)],
  ['complaints without end', 'ERROR: '.repeat(9000)],
  ['builds without end', `ERROR: ${'a-1'.repeat(20_000)}: x`],
  ['blanks without end', `ERROR: a\n${' '.repeat(60_000)}x`],
  ['names without end', 'ERROR: demo-1.0-r1: z\n'.repeat(3000)],
  ['indented lines without end', `ERROR: a\n${'  b-1: breaks: c-1\n'.repeat(3000)}`],
])('%s is read within 300 ms', (_, noise) => {
  const output = `${noise}\nERROR: Unable to lock database: Resource temporarily unavailable\n`;
  let code: string | undefined;
  const spentMs = processorMs(() => {
    code = explain({ output, names: ['demo'] })?.code;
  });

  expect(code).toBe('locked');
  expect(spentMs).toBeLessThan(300);
});
