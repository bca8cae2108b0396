import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { parseTarget, usualUrl } from '../../src/cli/daemon-target.ts';
import { ANOTHER_USER, canBeAnother } from '../support/another-user.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test.each([
  ['http://nas', undefined, '/cgi-bin/panel'],
  ['http://nas/', undefined, '/cgi-bin/panel'],
  ['http://nas/cgi-bin/panel', undefined, '/cgi-bin/panel'],
  ['http://nas/cgi-bin/panel/', undefined, '/cgi-bin/panel'],
  ['https://nas/box/depotd', undefined, '/box/depotd'],
  ['http://nas/box', '/cgi-bin/panel', '/box/cgi-bin/panel'],
  ['http://nas', '/elsewhere', '/elsewhere'],
  ['unix:/run/depotd.sock', undefined, '/cgi-bin/panel'],
  ['unix:/run/depotd.sock', '/elsewhere', '/elsewhere'],
])('--url %s with --base %s asks below %s', (url, base, prefix) => {
  expect(parseTarget(url, base).prefix).toBe(prefix);
});

const DEFAULT = 'http://127.0.0.1:8728';

async function sockets(): Promise<{ owner: string; shared: string }> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'own'), 0o700);
  return { owner: join(folder, 'own/owner.sock'), shared: join(folder, 'shared.sock') };
}

async function listenAt(path: string): Promise<void> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
}

test('without --url the socket of the owner is used, then the one that web servers use, too', async () => {
  const paths = await sockets();
  expect(usualUrl(paths)).toBe(DEFAULT);

  await listenAt(paths.shared);
  expect(usualUrl(paths)).toBe(`unix:${paths.shared}`);

  await listenAt(paths.owner);
  expect(usualUrl(paths)).toBe(`unix:${paths.owner}`);
});

test.each<[string, (owner: string) => Promise<unknown>]>([
  ['a file', (owner) => writeFile(owner, '')],
  [
    'in a folder that others may write',
    (owner) => listenAt(owner).then(() => chmod(dirname(owner), 0o777)),
  ],
  [
    'behind a link',
    async (owner) => {
      await listenAt(`${owner}.real`);
      await symlink(`${owner}.real`, owner);
    },
  ],
])('what lies %s where the socket of the owner belongs is not believed', async (_, prepare) => {
  const paths = await sockets();
  await prepare(paths.owner);

  expect(usualUrl(paths)).toBe(DEFAULT);
});

test.skipIf(!canBeAnother)('who may not look at the socket of the owner uses another', async () => {
  const paths = await sockets();
  await listenAt(paths.owner);
  process.seteuid?.(ANOTHER_USER);
  onTestFinished(() => process.seteuid?.(0));

  expect(usualUrl(paths)).toBe(DEFAULT);
});
