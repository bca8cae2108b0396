import { chmod, chown, lstat, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { readConfig } from '../../src/config/config.ts';
import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';
import { ANOTHER_USER, canBeAnother } from '../support/another-user.ts';
import { ask, type Answer, type Question } from '../support/ask.ts';

interface Started {
  device: Device;
  daemon: TestDaemon;
  socketPath: string;
  /** Below the path tree, over that socket. */
  askOwner: (path: string, question?: Question) => Promise<Answer>;
}

/** @param prepare gets the folder of the socket before the daemon starts */
async function start(prepare?: (folder: string) => Promise<unknown>): Promise<Started> {
  const device = await createDevice();
  onTestFinished(() => device.close());
  const folder = join(device.root, 'tmp/run/depotd');
  await prepare?.(folder);
  const socketPath = join(folder, 'owner.sock');
  const daemon = await startDaemon(device, {
    set: [
      'main.auth=password',
      `main.owner_socket=${socketPath}`,
      `main.listen=unix:${join(device.root, 'tmp/depotd.sock')}`,
    ],
  });
  onTestFinished(() => daemon.close());
  const askOwner = (path: string, question?: Question): Promise<Answer> =>
    ask(`http://localhost${daemon.base}/admin/${path}`, { socketPath, ...question });
  return { device, daemon, socketPath, askOwner };
}

test('who can open the socket of the owner reads and changes without log-in and token', async () => {
  const { askOwner } = await start();

  expect((await askOwner('store/installed')).status).toBe(200);
  const update = await askOwner('store/update', { method: 'POST' });
  expect([update.status, (JSON.parse(update.text) as { code: number }).code]).toEqual([200, 0]);
  expect((await askOwner('system/events')).headers['content-type']).toContain('event-stream');
});

test('everywhere else a log-in is needed as before', async () => {
  const { daemon, device, askOwner } = await start();
  await askOwner('store/installed');
  const path = `${daemon.base}/admin/store/installed`;

  expect((await ask(`${daemon.url}${path}`)).status).toBe(403);
  const socketPath = join(device.root, 'tmp/depotd.sock');
  expect((await ask(`http://localhost${path}`, { socketPath })).status).toBe(403);
});

test('a token of the owner and a ticket of the owner open nothing elsewhere', async () => {
  const { daemon, askOwner } = await start();
  const { token } = JSON.parse((await askOwner('store/token')).text) as { token: string };
  const issued = await askOwner(`ticket?for=${encodeURIComponent('admin/store/installed')}`);
  const { ticket } = JSON.parse(issued.text) as { ticket: string };
  const store = `${daemon.url}${daemon.base}/admin/store`;

  const update = await ask(`${store}/update`, { method: 'POST', form: { token } });
  const installed = await ask(`${store}/installed?ticket=${ticket}`);

  expect([update.status, installed.status]).toEqual([403, 403]);
});

test.each([
  ['x-forwarded-for', '192.0.2.7'],
  ['forwarded', 'for=192.0.2.7'],
  ['x-real-ip', '192.0.2.7'],
  ['via', '1.1 proxy'],
])('what a web server hands on (%s) is not taken for the owner', async (name, value) => {
  const { askOwner } = await start();

  expect((await askOwner('store/installed', { headers: { [name]: value } })).status).toBe(403);
});

test('socket and folder are of the owner alone, and what a killed daemon left is replaced', async () => {
  const { daemon, socketPath, askOwner } = await start();
  const modes = async (): Promise<string[]> => {
    const entries = await Promise.all([lstat(socketPath), lstat(join(socketPath, '..'))]);
    return entries.map(({ mode }) => (mode & 0o777).toString(8));
  };
  expect(await modes()).toEqual(['600', '700']);

  await daemon.kill('SIGKILL');
  await daemon.restart();

  expect((await askOwner('store/installed')).status).toBe(200);
  await daemon.close();
  expect(await readdir(join(socketPath, '..'))).toEqual([]);
});

const PREPARE: Record<string, (folder: string) => Promise<unknown>> = {
  'that others may look into': (folder) => mkdir(folder).then(() => chmod(folder, 0o755)),
  'that others may write': (folder) => mkdir(folder).then(() => chmod(folder, 0o777)),
  'that is a link': (folder) => symlink('/tmp', folder),
  ...(canBeAnother && {
    'of somebody else': (folder) =>
      mkdir(folder, 0o700).then(() => chown(folder, ANOTHER_USER, ANOTHER_USER)),
  }),
};

test.each(Object.entries(PREPARE))(
  'in a folder %s there is no such socket, and the log says why',
  async (_, prepare) => {
    const { daemon, socketPath } = await start(prepare);

    const { reason } = await daemon.logged('no socket for root: depotctl needs a log-in');
    expect(reason).toContain(`cannot use the folder ${join(socketPath, '..')}: `);
    await expect(lstat(socketPath)).rejects.toThrow('ENOENT');
    expect((await ask(`${daemon.url}/healthz`)).status).toBe(200);
  },
);

test('a socket that somebody else answers on stays theirs', async () => {
  const { daemon, askOwner } = await start(async (folder) => {
    await mkdir(folder, 0o700);
    const other = createServer((_request, response) => response.writeHead(418).end());
    await new Promise<void>((resolve) => other.listen(join(folder, 'owner.sock'), resolve));
    onTestFinished(() => void other.close());
  });

  const { reason } = await daemon.logged('no socket for root: depotctl needs a log-in');
  expect(reason).toContain('EADDRINUSE');
  expect((await askOwner('store/installed')).status).toBe(418);
});

test('no listener that web servers speak to may be the socket of the owner', () => {
  const overrides = ['main.listen=unix:/run/a/b.sock', 'main.owner_socket=/run/a/b.sock'];

  expect(readConfig({ file: '/dev/null', overrides }).problems).toEqual([
    expect.stringContaining('cannot use main.owner_socket /run/a/b.sock: main.listen has it, too'),
  ]);
});

test('the relays of the packages never speak to the socket of the owner', async () => {
  const folder = join(import.meta.dirname, '../../packaging');
  const names = (await readdir(folder, { recursive: true })).filter((name) =>
    /^(uhttpd|nginx|lighttpd)\//.test(name),
  );
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '');
    expect(text, name).not.toContain('owner.sock');
  }
});
