import { describe, expect, test } from 'vitest';

import { plainLines } from '../../../../src/package-management/failure.ts';
import { explain } from '../../../../src/package-management/opkg/changing/failure.ts';
import { processorMs } from '../../../support/processor-time.ts';

/** What opkg prints at its end (seen of opkg 38eccbb1). */
function errors(...messages: string[]): string {
  return `Collected errors:\n${messages.map((message) => ` * ${message}\n`).join('')}`;
}

function codeOf(output: string, ...names: string[]): string | undefined {
  return explain({ output, names })?.code;
}

const LOCKED =
  'opkg_conf_load: Could not lock /var/lock/opkg.lock: Resource temporarily unavailable.';

test.each([
  [LOCKED, 'locked', 'another program holds /var/lock/opkg.lock'],
  [
    'verify_pkg_installable: Only have 1024kb available on filesystem /overlay, pkg midbig needs 1953125',
    'no_space',
    '1.00 MiB are free on /overlay, midbig needs 1.86 GiB',
  ],
  [
    'wfopen: /usr/lib/x: No space left on device.',
    'no_space',
    'the disk is full: opkg says "wfopen: /usr/lib/x: No space left on device"',
  ],
  [
    'opkg_download: Failed to download http://127.0.0.1/a.ipk, wget returned 3.',
    'no_space',
    'there is no room to download http://127.0.0.1/a.ipk to',
  ],
  [
    'opkg_download: Failed to download http://127.0.0.1/a.ipk, wget returned 8.',
    'download_failed',
    'http://127.0.0.1/a.ipk cannot be downloaded: the server does not have it, or answers with an error',
  ],
  [
    'pkg_init_from_file: Malformed package file /tmp/x.ipk.',
    'damaged_package',
    'x.ipk is no package that opkg can read',
  ],
  [
    "opkg_install_pkg: Signature file is missing for virt. Perhaps you need to run 'opkg update'?",
    'signature',
    'the signature of virt is wrong or missing',
  ],
  [
    'opkg_download_pkg: Package virt is not available from any configured src.',
    'not_found',
    'no feed offers virt',
  ],
  [
    'opkg_conf_load: Could not create lock file /var/lock/opkg.lock: No such file or directory.',
    'unknown',
    'opkg says "Could not create lock file /var/lock/opkg.lock: No such file or directory."',
  ],
])('of "%s" it makes %s', (message, code, reason) => {
  expect(explain({ output: errors(message), names: ['virt'] })).toMatchObject({ code, reason });
});

test('a script that a signal ended, as where memory runs out, has failed', () => {
  const output = `Configuring virt.\nvirt begins\n${errors(
    'xsystem: /bin/sh: Child killed by signal 9.',
    'pkg_run_script: package "virt" postinst script returned status -1.',
    'opkg_configure: virt.postinst returned -1.',
  )}`;

  expect(explain({ output, names: ['virt'] })).toMatchObject({
    ...{ code: 'script_failed', package: 'virt' },
    reason:
      'the script of virt that runs after its installation was killed by signal 9: "virt begins"',
  });
});

test('a script that opkg could not begin was not killed', () => {
  const output = errors(
    'xsystem: /bin/sh: vfork: Cannot allocate memory.',
    'pkg_run_script: package "virt" postinst script returned status -1.',
  );

  expect(explain({ output, names: ['virt'] })).toMatchObject({
    ...{ code: 'script_failed', package: 'virt' },
    reason:
      'the script of virt that runs after its installation was not run: opkg could not begin it',
  });
});

test('the missing dependency that is deepest counts, and more than what follows from it', () => {
  const output = errors(
    'pkg_hash_check_unresolved: cannot find dependency libfoo for demo-app',
    'pkg_hash_fetch_best_installation_candidate: Packages for demo-app found, but incompatible with the architectures configured',
    'opkg_install_cmd: Cannot install package app-meta-demo.',
  );

  expect(explain({ output, names: ['app-meta-demo'] })).toMatchObject({
    code: 'dependency_missing',
    package: 'demo-app',
    reason: 'demo-app needs libfoo, which no feed offers',
  });
});

test('several packages in the way are all named', () => {
  const output = errors(
    'print_dependents_warning: Package libdemo is depended upon by packages:',
    'print_dependents_warning: \tdemo-app',
    'print_dependents_warning: \tnotes-app',
    'print_dependents_warning: These might cease to work if package libdemo is removed.\n',
  );

  expect(explain({ output, names: ['libdemo'] })?.reason).toBe(
    'libdemo is needed by demo-app, notes-app',
  );
});

test('nothing is said of a command that printed nothing', () => {
  expect(explain({ output: '', names: ['virt'] })).toBeUndefined();
  expect(explain({ output: 'Configuring virt.\n', names: ['virt'] })).toBeUndefined();
});

describe('scripts that print what opkg prints', () => {
  const real = errors('pkg_run_script: package "evil" postinst script returned status 3.');

  test.each([
    ['a whole block', errors(LOCKED)],
    ['a block whose last line is open', errors(LOCKED).trimEnd()],
    ['the heading of a block, and leaves the line open', 'Collected errors:'],
    [
      'statements of opkg',
      "Unknown package 'other'.\nRefusing to remove essential package libc.\n",
    ],
  ])('do not hide what opkg says after them: %s', (_, printed) => {
    expect(codeOf(`Configuring evil.\r\n${printed}${real}`, 'evil')).toBe('script_failed');
  });

  test('count for no package but their own', () => {
    const output = `Configuring evil.\nRefusing to remove essential package libc.\n${real}`;

    expect(codeOf(output, 'virt')).toBe('script_failed');
    expect(codeOf('Refusing to remove essential package libc.\n', 'virt')).toBeUndefined();
  });
});

describe('output of any kind', () => {
  const bytes = Buffer.from(Array.from({ length: 64 * 1024 }, (_, at) => (at * 7919) % 256));
  test.each([
    ['all bytes there are', bytes.toString('utf8')],
    ['one line of 64 KiB', 'x'.repeat(64 * 1024)],
    ['64 KiB of blanks', ' '.repeat(64 * 1024)],
    ['64 KiB of line ends', '\n'.repeat(64 * 1024)],
    ['64 KiB of marks', ' * '.repeat(21_845)],
    ['blocks without end', 'Collected errors:\n * '.repeat(3000)],
    ['sequences of a terminal that never end', '\u001b['.repeat(32 * 1024)],
    ['a title of a terminal that never ends', `\u001b]0;${'x'.repeat(64 * 1024)}`],
    ['dependents without end', ` * print_dependents_warning: \tx\n`.repeat(2000)],
    ['half of a message', ' * pkg_run_script: package "'.repeat(2000)],
  ])('%s is read within 200 ms, and what opkg says behind it is found', (_, noise) => {
    let code: string | undefined;
    const spentMs = processorMs(() => {
      code = codeOf(`${noise}\n${errors(LOCKED)}`, 'virt');
    });

    expect(code).toBe('locked');
    expect(spentMs).toBeLessThan(200);
  });

  test('colours and other control characters are in no sentence', () => {
    const output = `Configuring evil.\r\n\u001b[31mred\u0007\u009b1m alert\u001b[0m\r\n${errors(
      'pkg_run_script: package "evil" postinst script returned status 3.',
    )}`;

    expect(explain({ output, names: ['evil'] })?.reason).toMatch(/alert"$/);
    expect(explain({ output, names: ['evil'] })?.reason).not.toMatch(/\p{Cc}/u);
  });

  test('a long last line is cut', () => {
    const output = `Configuring evil.\n${'x'.repeat(5000)}\n${errors(
      'pkg_run_script: package "evil" postinst script returned status 3.',
    )}`;

    expect(explain({ output, names: ['evil'] })?.reason.length).toBeLessThan(300);
  });

  test('the daemon’s own lines are none of the program’s', () => {
    expect(plainLines('a\r\ndepotd: waiting\r\nb\r\n')).toEqual(['a', 'b', '']);
  });
});
