import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';

import { loadConfig } from '../../../../src/config/config.ts';
import { createPaths } from '../../../../src/device/paths.ts';
import { createDataRootSettings } from '../../../../src/features/container-data/engine/data-root-setting.ts';
import { runCommand } from '../../../device/command.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

let root: string;
let settings: ReturnType<typeof createDataRootSettings>;
const uci = (): string => join(root, 'etc/config/dockerd');
const json = (): string => join(root, 'etc/docker/daemon.json');
const text = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch(() => undefined);

beforeEach(async () => {
  root = await temporaryFolder();
  for (const folder of ['etc/config', 'etc/docker', 'tmp/.uci']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  settings = createDataRootSettings(
    createPaths(loadConfig({ file: '/dev/null', overrides: [`main.root=${root}`] })),
  );
});
describe('where the data root is set', () => {
  test.each([
    {
      where: 'UCI',
      uciText: "config globals 'globals'\n\toption data_root '/a/'\n",
      jsonText: '{"data-root":"/b"}',
      expected: { path: '/a', kind: 'uci' },
    },
    {
      where: 'daemon.json where UCI does not say',
      uciText: "config globals 'globals'\n",
      jsonText: '{"data-root":"/b"}',
      expected: { path: '/b', kind: 'json' },
    },
    {
      where: 'UCI, to be written, where neither says',
      uciText: "config globals 'globals'\n",
      jsonText: '{}',
      expected: { path: '/var/lib/docker', kind: 'uci' },
    },
    {
      where: 'daemon.json where there is no UCI',
      jsonText: '{"data-root":"/b/"}',
      expected: { path: '/b', kind: 'json' },
    },
    {
      where: 'the default where there is nothing',
      expected: { path: '/var/lib/docker', kind: 'json', text: undefined },
    },
  ])('$where', async ({ uciText, jsonText, expected }) => {
    if (uciText !== undefined) await writeFile(uci(), uciText);
    if (jsonText !== undefined) await writeFile(json(), jsonText);
    expect(await settings.read()).toMatchObject(expected);
  });

  test("a configuration of the administrator's own, and uncommitted changes, are seen", async () => {
    await writeFile(uci(), "config globals 'globals'\n\toption alt_config_file '/etc/my.json'\n");
    await writeFile(join(root, 'tmp/.uci/dockerd'), "dockerd.globals.data_root='/c'\n");
    expect(await settings.read()).toMatchObject({
      elsewhere: '/etc/my.json',
      uncommittedFile: join(root, 'tmp/.uci/dockerd'),
    });
  });

  test('a fifo that somebody put where uci keeps changes is not waited for', async () => {
    await runCommand(['mkfifo', join(root, 'tmp/.uci/dockerd')]);

    expect((await settings.read()).uncommittedFile).toBeUndefined();
  });

  test('a damaged daemon.json is not taken for none', async () => {
    await writeFile(json(), '{"data-root":');
    await expect(settings.read()).rejects.toThrow(`cannot read ${json()}`);
  });
});

describe('switching', () => {
  test('daemon.json keeps all else, its mode, its owner and its indentation, and comes back to the letter', async () => {
    const before = '{\n\t"data-root": "/a",\n\t"log-opts": {"max-size": "1m"}, "n": 1\n}';
    await writeFile(json(), before);
    await chmod(json(), 0o640);
    await writeFile(`${json()}.99.new`, 'left by somebody who was killed');
    const setting = await settings.read();

    await settings.write(setting, '/mnt/b');

    expect(await text(json())).toBe(
      '{\n\t"data-root": "/mnt/b",\n\t"log-opts": {\n\t\t"max-size": "1m"\n\t},\n\t"n": 1\n}\n',
    );
    expect((await stat(json())).mode & 0o777).toBe(0o640);
    expect(await readdir(join(root, 'etc/docker'))).toEqual(['daemon.json']);
    await settings.restore(setting, '/mnt/b');
    expect(await text(json())).toBe(before);
  });

  test('what somebody else has changed in between stays', async () => {
    await writeFile(json(), '{"data-root":"/a"}');
    const setting = await settings.read();
    await settings.write(setting, '/mnt/b');
    await writeFile(json(), '{"data-root":"/mnt/b","debug":true}');

    await settings.restore(setting, '/mnt/b');

    expect(JSON.parse((await text(json())) ?? '')).toEqual({ 'data-root': '/a', debug: true });
  });

  test('a file that was not there is gone again', async () => {
    const setting = await settings.read();
    await settings.write(setting, '/mnt/b');
    expect((await settings.read()).path).toBe('/mnt/b');

    await settings.restore(setting, '/mnt/b');

    expect(await text(json())).toBeUndefined();
  });
});
