import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { startUpdatedApkDevice } from '../../../device/apk-contract/start-apk-device.ts';
import { openApk } from '../open-apk.ts';

test('a plan that apk does not find waits for nobody who asks what feeds offer', async () => {
  const device = await startUpdatedApkDevice();
  await mkdir(`${device.root}/etc/depotd/apk/empty`, { recursive: true });
  const folder = join(device.root, '..', 'slow');
  const answer = join(folder, 'answer');
  await mkdir(folder);
  await writeFile(join(folder, 'apk'), slowApk(device.path, answer));
  await chmod(join(folder, 'apk'), 0o755);
  const manager = openApk(device, { PATH: [folder, device.path].join(delimiter) });
  let isAnswered = false;
  const asking = manager.offers(['busybox']).finally(() => void (isAnswered = true));

  const { problems } = await manager.preview({ verb: 'install', names: ['absent'] });

  expect([problems.map(({ code }) => code), isAnswered]).toEqual([['not_found'], false]);
  await writeFile(answer, '');
  await asking;
}, 20_000);

/** The apk of the device, which says what feeds offer when there is a file. */
function slowApk(path: string, file: string): string {
  return `#!/bin/sh
case " $* " in
*' query '*) until [ -e '${file}' ]; do sleep 0.05; done ;;
esac
PATH='${path}'
exec apk "$@"
`;
}
