import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { runCommand } from '../device/command.ts';
import { startDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';

const main = (...lines: string[]): string =>
  ["config uhttpd 'main'", ...lines.map((line) => `\t${line}`), ''].join('\n');

test("the token's answer says where the panel's web server is, as far as that is known", async () => {
  const device = await createDevice();
  onTestFinished(() => device.close());
  const daemon = await startDaemon(device);
  onTestFinished(() => daemon.close());
  const file = join(device.root, 'etc/config/uhttpd');
  const ask = async (headers: Record<string, string> = {}): Promise<unknown> => {
    const answer = await daemon.get('admin/store/token?panel_url=1', headers);
    return ((await answer.json()) as { panel_url?: string }).panel_url;
  };

  const table: [string, string | undefined][] = [
    [main("list listen_http '0.0.0.0:80'", "list listen_http '[::]:80'"), 'http://127.0.0.1/'],
    [main("list listen_http '[::]:80'"), undefined],
    [main("list listen_http '8080'", "list listen_https '443'"), 'http://127.0.0.1:8080/'],
    [main("list listen_https '0.0.0.0:443'"), 'https://127.0.0.1/'],
    [main("option listen_http '192.168.1.1:80 127.0.0.1:81'"), 'http://127.0.0.1:81/'],
    [main("list listen_http '192.168.1.1:80'"), undefined],
    [main("list listen_http '0.0.0.0:99999'", "list listen_http 'http'"), undefined],
    [main("option home '/www'"), undefined],
    [main("list listen_http '80'").replace('main', 'other'), undefined],
    ["config uhttpd 'main", undefined],
  ];
  for (const [text, expected] of table) {
    await writeFile(file, text);
    expect([text, await ask()]).toEqual([text, expected]);
  }
  await writeFile(file, main("list listen_http '80'"));
  const byName = `${daemon.url.replace('127.0.0.1', 'localhost')}${daemon.base}/admin/store/token?panel_url=1`;
  expect(await (await fetch(byName)).json()).toMatchObject({ panel_url: 'http://localhost/' });
  expect(await ask({ 'x-forwarded-for': '192.168.1.7' })).toBe('/');
  const plain = await daemon.get('admin/store/token');
  expect(Object.keys((await plain.json()) as object)).toEqual(['token']);
  await rm(file);
  expect(await ask()).toBe(undefined);
  expect(await ask({ forwarded: 'for=192.168.1.7' })).toBe('/');
  await runCommand(['mkfifo', file]);
  expect(await ask()).toBe(undefined);
  await rm(file);
  await symlink('/dev/zero', file);
  expect(await ask()).toBe(undefined);
});
