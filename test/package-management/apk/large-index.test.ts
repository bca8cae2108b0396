import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApkDevice, type ApkDevice } from '../../device/apk-device/apk-device.ts';
import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { changesIn, planOf } from '../../features/preview/preview-answer.ts';
import { oneProgram } from './open-store.ts';
import { storeActions } from '../../features/packages/store-actions.ts';

/** What an apk prints of a feed with so many names, and so many versions of the package `many`. */
const COUNT = 300_000;

let device: ApkDevice;
let daemon: TestDaemon;

beforeAll(async () => {
  device = await createApkDevice({
    packages: [oneProgram('few', '1.0-r1'), oneProgram('many', '1')],
  });
  await device.apk('update');
  const folder = join(device.root, '..', 'large');
  await mkdir(folder);
  await writeFile(join(folder, 'apk'), largeApk(device.path));
  await chmod(join(folder, 'apk'), 0o755);
  daemon = await startDaemon(device, {
    env: { PATH: [folder, device.path].join(delimiter) },
    // As the start script has it.
    nodeFlags: ['--max-old-space-size=64', '--v8-pool-size=1'],
  });
});
afterAll(async () => {
  await daemon.close();
  await device.close();
});

test('of a feed with 300,000 names a plan reads those that it needs', async () => {
  const plan = await planOf(daemon, 'install', 'few');

  expect(changesIn(plan).installs).toEqual(['few 1.0-r1']);
  expect(await storeActions(daemon).run('install', { package: 'few' })).toMatchObject({
    state: 'done',
  });
}, 60_000);

test('of a name in 300,000 versions a plan says that they are too many', async () => {
  expect(await planOf(daemon, 'install', 'many')).toMatchObject({
    is_possible: false,
    problems: [
      {
        code: 'plan_too_large',
        message:
          'cannot read what the feeds offer: the feeds offer too much: 20,000 versions of many alone',
      },
    ],
  });

  expect(await storeActions(daemon).run('install', { package: 'many' })).toMatchObject({
    state: 'failed',
    error_code: 'plan_too_large',
  });
}, 60_000);

/** The apk of the device, but for what it prints for `*` and `many`. */
function largeApk(path: string): string {
  const object = (name: string, version: string): string =>
    String.raw`  }, {\n    "name": "${name}",\n    "version": "${version}",\n    "arch": "noarch"\n`;
  const program = (name: string, version: string): string =>
    `awk 'BEGIN { printf "[\\n  {\\n    \\"name\\": \\"none\\"\\n"; for (i = 0; i < ${COUNT}; i++) ` +
    `printf "${object(name, version).replaceAll('"', String.raw`\"`)}", i; ` +
    String.raw`printf "  }\n]\n" }'`;
  return `#!/bin/sh
case " $* " in
*' query '*' * '*) exec ${program('name-%d', '1-r0')} ;;
*' query '*' many '*) exec ${program('many', '%d-r0')} ;;
esac
PATH='${path}'
exec apk "$@"
`;
}
