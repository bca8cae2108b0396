import { execFileSync } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { chown, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { ANOTHER_USER, canBeAnother } from '../../support/another-user.ts';
import { aroundTests } from '../../support/around-tests.ts';
import { change, feedOf, feedsOf } from './feed-answer.ts';
import {
  expectFeedsAnswered,
  ODD_FILES,
  prepareServer,
  redirectTo,
  sendForEver,
} from './hostile-feed.ts';
import { startApkFeeds, type ManagedFeeds } from './managed-feeds.ts';

let feeds: ManagedFeeds;
let url: string;
const at = (path: string): string => join(feeds.root, path);
const textOf = (path: string): Promise<string> => readFile(at(path), 'latin1');

const start = async (): Promise<void> => {
  feeds = await startApkFeeds();
  url = feeds.params['url'] ?? '';
  await mkdir(at(feeds.folders.lists), { recursive: true, mode: 0o700 });
};
const nothingChanged = aroundTests(start, () => feeds.close());

async function expectNothingLeft(): Promise<void> {
  const { lists, fetched } = feeds.folders;
  expect(await readdir(at(lists))).toEqual([]);
  // What a task kept for undo goes behind its end.
  await expect.poll(() => readdir(at(fetched)).catch(() => [])).toEqual([]);
}

describe('nothing changes, and nothing is left, if the server', () => {
  const server = prepareServer();
  const send = (bytes: () => Buffer) => (response: ServerResponse) => {
    response.end(bytes());
  };

  test.each([
    ['sends without end', sendForEver, 'larger than 64.00 MiB'],
    ['leads to a file of the device', redirectTo('file:///etc/passwd'), 'cannot use the feed'],
    ['leads round in circles', redirectTo('/again'), 'cannot use the feed'],
    ['sends noise', send(() => Buffer.alloc(100_000, 'a: b\n\n')), 'cannot use the feed'],
    ['sends what unpacks to 500 MB', send(() => bomb(500)), 'cannot use the feed'],
    ['sends nothing', send(() => Buffer.alloc(0)), 'cannot use the feed'],
    ['sends the head of an index', send(() => Buffer.from('ADBd')), 'cannot use the feed'],
  ] as const)('%s', async (_, answer, reason) => {
    server.sends(answer);
    const before = await textOf(feeds.custom);

    for (const index of ['packages.adb', 'APKINDEX.tar.gz']) {
      const address = `${server.url()}/${index}`;
      const task = await change(feeds.daemon, 'add_feed', { name: 'mine', url: address });

      expect(task.state).toBe('failed');
      expect(task.error).toContain(reason);
      expect(await textOf(feeds.custom)).toBe(before);
      await expectNothingLeft();
    }
    nothingChanged();
  });
});

describe.skipIf(!canBeAnother)('what another user put among the lists holds nothing up:', () => {
  test.each([
    ['a fifo', 'mkfifo "$1"'],
    ['a terabyte', 'truncate -s 1T "$1"'],
    ['a link to what never ends', 'ln -s /dev/zero "$1"'],
    ['a link to a file of root', 'ln -s /etc/shadow "$1"'],
    ['a folder', 'mkdir "$1"'],
  ])('%s', async (_, script) => {
    expect((await change(feeds.daemon, 'add_feed', feeds.params)).error).toBeUndefined();
    const folder = at(feeds.folders.lists);
    const [copy = ''] = await readdir(folder);
    await rm(join(folder, copy));
    const act = `${script} && chown -hR ${ANOTHER_USER} .`;
    execFileSync('/bin/sh', ['-c', act, 'sh', copy], { cwd: folder });

    await expectFeedsAnswered(feeds.daemon);
    const plan = await fetch(
      `${feeds.daemon.url}${feeds.daemon.base}/admin/store/plan?operation=install&package=demo`,
      { signal: AbortSignal.timeout(10_000) },
    );
    expect([200, 503]).toContain(plan.status);

    for (const enabled of ['0', '1']) {
      const task = await change(feeds.daemon, 'set_feed', { name: 'mine', enabled });
      if (enabled === '0') expect(task.error).toBeUndefined();
      else expect(task.error).toContain(`belongs to the user ${ANOTHER_USER}`);
    }
    expect(await feedOf(feeds.daemon, 'mine')).toMatchObject({ enabled: false });
    expect((await feeds.daemon.get('/healthz')).status).toBe(200);
  });
});

describe('a custom file that is', () => {
  test.each(ODD_FILES)('%s stays, and no key of the feed is trusted', async (_, reason, make) => {
    const keys = await readdir(at(feeds.folders.keys));
    const before = await textOf(feeds.custom);
    await rm(at(feeds.custom));
    await make(at(feeds.custom));

    const task = await change(feeds.daemon, 'add_feed', feeds.params);

    expect(task.state).toBe('failed');
    expect(task.error).toContain(reason);
    expect(await readdir(at(feeds.folders.keys))).toEqual(keys);
    await expectNothingLeft();
    await rm(at(feeds.custom), { recursive: true });
    await writeFile(at(feeds.custom), before);
    nothingChanged();
  });

  test.skipIf(!canBeAnother)("in another user's folder is not written", async () => {
    const before = await textOf(feeds.custom);
    await chown(at('etc/apk/repositories.d'), ANOTHER_USER, ANOTHER_USER);
    const task = await change(feeds.daemon, 'add_feed', feeds.params);
    expect(task.error).toContain(`belongs to the user ${ANOTHER_USER}`);
    expect(await textOf(feeds.custom)).toBe(before);
    await expectNothingLeft();
  });

  test.skipIf(!canBeAnother)('a link of another user is not followed', async () => {
    await rm(at(feeds.custom));
    const target = at('etc/elsewhere');
    await writeFile(target, '# kept\n');
    execFileSync('ln', ['-s', target, at(feeds.custom)]);
    execFileSync('chown', ['-h', `${ANOTHER_USER}`, at(feeds.custom)]);
    const task = await change(feeds.daemon, 'add_feed', feeds.params);
    expect(task.error).toContain(`a link of the user ${ANOTHER_USER}`);
    expect(await readFile(target, 'utf8')).toBe('# kept\n');
    await expectNothingLeft();
  });
});

describe('what lies among the keys holds nothing up:', () => {
  test.each([
    ['a fifo', (file: string) => void execFileSync('mkfifo', [file])],
    ['a folder', (file: string) => mkdir(file)],
    ['a link to what never ends', (file: string) => symlink('/dev/zero', file)],
    ['a terabyte', (file: string) => void execFileSync('truncate', ['-s', '1T', file])],
    ['text that is no key', (file: string) => writeFile(file, 'hello\n')],
  ])('%s', async (_, make) => {
    await make(at(`${feeds.folders.keys}/odd.pem`));

    expect((await feedsOf(feeds.daemon)).keys.map(({ file }) => file)).not.toContain(
      at(`${feeds.folders.keys}/odd.pem`),
    );
    expect((await change(feeds.daemon, 'add_feed', feeds.params)).error).toBeUndefined();
    expect(await feedOf(feeds.daemon, 'mine')).toMatchObject({ enabled: true, url });
    await rm(at(`${feeds.folders.keys}/odd.pem`), { recursive: true });
    await change(feeds.daemon, 'remove_feed', { name: 'mine' });
    nothingChanged();
  });
});

describe("the owner's lines stay byte for byte", () => {
  test.each([
    ['notes and a former address', (own: string) => `# ${own}x\n#\t mine\r\n`, '# last'],
    ['lines that apk does not know', () => 'src/gz a b\n\xe9\xff\n', ''],
    ['the same address twice', (own: string) => `# ${own}\n# ${own}\n`, '\n\n'],
  ])('%s', async (_, before, after) => {
    const [head, tail] = [before(url), after];
    const text = `${head}# feed: mine\n${url}\n${tail}`;
    expect((await change(feeds.daemon, 'add_feed', feeds.params)).error).toBeUndefined();
    await writeFile(at(feeds.custom), Buffer.from(text, 'latin1'));
    expect(await feedOf(feeds.daemon, 'mine')).toMatchObject({ url, enabled: true });

    const run = (operation: string, params = {}): Promise<{ error?: string }> =>
      change(feeds.daemon, operation, { name: 'mine', ...params });
    expect((await run('set_feed', { enabled: '0' })).error).toBeUndefined();
    expect(await textOf(feeds.custom)).toBe(`${head}# feed: mine\n# ${url}\n${tail}`);
    expect((await run('set_feed', { enabled: '1' })).error).toBeUndefined();
    expect(await textOf(feeds.custom)).toBe(text);
    expect((await run('remove_feed')).error).toBeUndefined();
    expect(await textOf(feeds.custom)).toBe(`${head}${tail}`);
  });

  test('a name that looks like a path is only a name', async () => {
    const text = `# feed: ../../etc/profile\n# ${url}\n`;
    await writeFile(at(feeds.custom), text);
    const name = '../../etc/profile';
    await change(feeds.daemon, 'set_feed', { name, enabled: '1' });
    expect(await readFile(at('etc/profile'), 'utf8').catch(() => undefined)).toBeUndefined();
    expect((await readdir(at(feeds.folders.lists))).every((each) => /^APKINDEX\./.test(each))).toBe(
      true,
    );
  });
});

const PEM = `-----BEGIN PUBLIC KEY-----\n${'A'.repeat(64)}\n-----END PUBLIC KEY-----\n`;

test.each([
  ['no key', 'hello'],
  ['a damaged key', PEM],
  ['a private key', PEM.replace(/PUBLIC/g, 'PRIVATE')],
  ['a certificate', PEM.replace(/PUBLIC KEY/g, 'CERTIFICATE')],
])('%s is refused and not written', async (_, key) => {
  const keys = await readdir(at(feeds.folders.keys));
  const task = await change(feeds.daemon, 'add_feed', { ...feeds.params, key });
  expect(task.state).toBe('failed');
  expect(task.error).toContain('it is no public key');
  expect(await readdir(at(feeds.folders.keys))).toEqual(keys);
  await expectNothingLeft();
  nothingChanged();
});

test('of two feeds of one name that are added at once, one is there afterwards', async () => {
  const others = [url, url.replace('/feed/', '//feed/')];
  const ids = await Promise.all(
    others.map((each) => feeds.daemon.submit('add_feed', { ...feeds.params, url: each })),
  );
  const states = await Promise.all(ids.map(async (id) => (await feeds.daemon.finished(id)).state));
  expect(states.sort()).toEqual(['done', 'failed']);
  expect((await textOf(feeds.custom)).match(/# feed: mine/g)).toHaveLength(1);
});

function bomb(megabytes: number): Buffer {
  const member = gzipSync(Buffer.alloc(1024 ** 2));
  return Buffer.concat(Array.from({ length: megabytes }, () => member));
}
