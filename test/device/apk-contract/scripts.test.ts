import { expect, test } from 'vitest';

import { lines, mustWork, script, simpleApk, startUpdatedApkDevice } from './start-apk-device.ts';

test('a script runs in the root, knows its package, and its input is empty', async () => {
  const body =
    'echo "in $(pwd)"; echo "$APK_PACKAGE $APK_SCRIPT $*"; read -r word || echo "no input"';
  const packages = [simpleApk('told', { scripts: { 'post-install': script(body) } })];
  const device = await startUpdatedApkDevice({ packages });

  expect(await mustWork(device, 'add', 'told')).toContain(
    lines(
      '  Executing told-1.0-r1.post-install',
      `  * in ${device.root}`,
      '  * told post-install 1.0-r1',
      '  * no input',
    ),
  );
});

test('what it prints comes line by line, errors on stderr', async () => {
  const body = 'echo one; echo two >&2; printf three';
  const packages = [simpleApk('loud', { scripts: { 'post-install': script(body) } })];
  const device = await startUpdatedApkDevice({ packages });

  const add = await device.apk('add', 'loud');

  expect(add.stdout).toContain('  * one\n  * three\n');
  expect(add.stderr).toBe('  * two\n');
});

test('200000 lines of a script arrive whole', async () => {
  const device = await startUpdatedApkDevice();

  const stdout = await mustWork(device, 'add', 'chatty');

  expect(stdout).toContain('  * chatty: line 1\n  * chatty: line 2\n');
  expect(stdout).toContain('  * chatty: line 200000\nOK: ');
});

test('an apk inside a script finds the lock taken: 99', async () => {
  const body = 'apk --root "$IPKG_INSTROOT" add virt; echo "inner: $?"';
  const packages = [simpleApk('inner', { scripts: { 'post-install': script(body) } })];
  const device = await startUpdatedApkDevice({ packages });

  expect(await mustWork(device, 'add', 'inner')).toContain('  * inner: 99\n');
});

test('triggers run at the end, with the folders that changed', async () => {
  const trigger = script('echo "changed: $*"');
  const packages = [
    simpleApk('watcher', { triggers: ['/usr/share/*', '/lib/apk/meta'], scripts: { trigger } }),
    simpleApk('shared', { files: { '/usr/share/shared/x': 'x\n' } }),
  ];
  const device = await startUpdatedApkDevice({ packages });
  await mustWork(device, 'add', 'watcher');

  expect(await mustWork(device, 'add', 'shared')).toContain(
    'Executing watcher-1.0-r1.trigger\n* changed: /usr/share/shared\nOK: ',
  );
  expect(await mustWork(device, 'add', 'app-meta-demo')).toContain(
    '* changed: /lib/apk/meta\nOK: ',
  );
});
