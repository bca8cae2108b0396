import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
} from 'vitest';

import { change, findingOf } from './feed-answer.ts';
import { startFeedDaemon, type FeedDaemon } from './feed-daemon.ts';
import { startApkFeeds } from './managed-feeds.ts';

/** Nobody listens there: a device without TLS comes as far. */
const ELSEWHERE = 'http://127.0.0.1:9';

let server: Server;
let asked: string[] = [];
let location: (path: string) => string;
beforeEach(async () => {
  asked = [];
  location = (path) => `${ELSEWHERE}/new${path}`;
  server = createServer(({ method = '', url = '' }, response) => {
    asked.push(`${method} ${url}`);
    response.writeHead(301, { Location: location(url) }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.close();
});
const urlOf = (path: string): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

const WRITE = 'Write that address into the list of feeds, in the place of the one that is there.';

test.each(['opkg', 'apk'])(
  'of a feed of %s that answers with a redirect the task and the doctor say where to',
  async (manager) => {
    const isOpkg = manager === 'opkg';
    const opened = isOpkg ? await startFeedDaemon() : await startApkFeeds();
    onTestFinished(() => opened.close());
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

describe('a redirect', () => {
  let opened: FeedDaemon;
  const add = (): ReturnType<typeof change> =>
    change(opened.daemon, 'add_feed', { name: 'mine', url: urlOf('/old') });
  beforeAll(async () => {
    opened = await startFeedDaemon();
  });
  afterAll(() => opened.close());

  test('to a log-in page is no address of a feed, and of it no password is shown', async () => {
    location = () => 'http://guest:secret@127.0.0.1:9/login?from=\u00fc\'"<b>';
    const added = await add();
    expect(added.remedy).toContain('Log in to the network first');
    expect(added.error).toContain(`redirect to ${ELSEWHERE}/login`);
    expect(added.error).not.toMatch(/secret|[<"]/);
  });

  test.each(['file:///etc/passwd', 'http://', '/old/Packages.gz', 'javascript:alert(1)'])(
    'to %s does no harm',
    async (to) => {
      location = () => to;
      const added = await add();
      expect(added.state).toBe('failed');
      expect(added.error).not.toMatch(/file:|javascript:/);
    },
  );
});
