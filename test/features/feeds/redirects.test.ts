import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { change, findingOf } from './feed-answer.ts';
import { startFeedDaemon } from './feed-daemon.ts';
import { startApkFeeds } from './managed-feeds.ts';

/** Nobody listens there: a device without TLS comes as far. */
const ELSEWHERE = 'http://127.0.0.1:9';

let server: Server;
let asked: string[] = [];
let location: (path: string) => string;
let close: () => Promise<void> = () => Promise.resolve();
beforeEach(async () => {
  asked = [];
  location = (path) => `${ELSEWHERE}/new${path}`;
  server = createServer(({ method = '', url = '' }, response) => {
    asked.push(`${method} ${url}`);
    response.writeHead(301, { Location: location(url) }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.close();
  await close();
});
const urlOf = (path: string): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

const WRITE = 'Write that address into the list of feeds, in the place of the one that is there.';

test.each(['opkg', 'apk'])(
  'of a feed of %s that answers with a redirect the task and the doctor say where to',
  async (manager) => {
    const isOpkg = manager === 'opkg';
    const opened = isOpkg ? await startFeedDaemon() : await startApkFeeds();
    ({ close } = opened);
    const { daemon } = opened;
    const url = urlOf(isOpkg ? '/old' : '/old/packages.adb');
    const root = 'device' in opened ? opened.device.root : opened.root;
    const file = isOpkg ? 'etc/opkg/distfeeds.conf' : 'etc/apk/repositories.d/distfeeds.list';
    await writeFile(join(root, file), isOpkg ? `src/gz moved ${url}\n` : `${url}\n`);
    const to = `${ELSEWHERE}/new${isOpkg ? '/old' : '/old/packages.adb'}`;
    const reason = `it answers with a redirect to ${to}`;

    const updated = await change(daemon, 'update', {});
    expect([updated.state, updated.remedy]).toEqual(['failed', WRITE]);
    expect(updated.error).toContain(reason);
    const looks = asked.filter((line) => line.startsWith('HEAD'));
    expect(looks.length).toBeLessThan(3);

    const before = asked.length;
    await expect
      .poll(() => findingOf(daemon, 'feeds'))
      .toMatchObject({
        state: 'warning',
        message: expect.stringMatching(new RegExp(`: ${reason}$`)) as string,
        remedy: WRITE,
      });
    expect(asked).toHaveLength(before);

    const address = url.replace('/old', '/other');
    const added = await change(daemon, 'add_feed', { name: 'mine', url: address });
    expect([added.state, added.remedy]).toEqual(['failed', WRITE]);
    expect(added.error).toContain('redirect to');
  },
);

test('a redirect to a log-in page is no address of a feed, and of it no password is shown', async () => {
  const opened = await startFeedDaemon();
  ({ close } = opened);
  location = () => 'http://guest:secret@127.0.0.1:9/login?from=\u00fc\'"<b>';
  const params = { name: 'mine', url: urlOf('/old') };
  const added = await change(opened.daemon, 'add_feed', params);
  expect(added.remedy).toContain('Log in to the network first');
  expect(added.error).toContain(`redirect to ${ELSEWHERE}/login`);
  expect(added.error).not.toMatch(/secret|[<"]/);
});

test.each(['file:///etc/passwd', 'http://', '/old/Packages.gz', 'javascript:alert(1)'])(
  'a redirect to %s does no harm',
  async (to) => {
    const opened = await startFeedDaemon();
    ({ close } = opened);
    location = () => to;
    const added = await change(opened.daemon, 'add_feed', { name: 'mine', url: urlOf('/old') });
    expect(added.state).toBe('failed');
    expect(added.error).not.toMatch(/file:|javascript:/);
  },
);
