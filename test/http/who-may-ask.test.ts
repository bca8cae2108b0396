import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';
import { ask, type Answer } from '../support/ask.ts';
import { createPanel, type Panel } from '../support/panel.ts';
import { createWorlds, type Credentials, type Mode, type World } from './session-worlds.ts';

/**
 * One entry of the daemon's own table of routes, as its OpenAPI document, made from that table,
 * tells it.
 */
interface Entry {
  method: string;
  path: string;
  needsSession: boolean;
  needsToken: boolean;
  /** Whether a wrong token is refused; an upload may leave it out, but not have it wrong. */
  asksToken: boolean;
}

const agent = new Agent({ keepAlive: true });
let device: Device;
let panel: Panel;
let worlds: Record<Mode, World>;

beforeAll(async () => {
  [device, panel] = await Promise.all([createDevice(), createPanel()]);
  worlds = await createWorlds({ device, panel });
});

afterAll(async () => {
  agent.destroy();
  await Promise.all(Object.values(worlds).map(({ daemon }) => daemon.close()));
  await Promise.all([panel.close(), device.close()]);
});

const entriesKnown = new Map<TestDaemon, Promise<Entry[]>>();

function entriesOf(daemon: TestDaemon): Promise<Entry[]> {
  const entries = entriesKnown.get(daemon) ?? readEntries(daemon);
  entriesKnown.set(daemon, entries);
  return entries;
}

async function readEntries({ url, base }: TestDaemon): Promise<Entry[]> {
  const { paths } = JSON.parse((await ask(`${url}${base}/openapi.json`)).text) as {
    paths: Record<
      string,
      Record<
        string,
        { security: object[]; parameters: { name: string }[]; requestBody?: { content: object } }
      >
    >;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security, parameters, requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      needsSession: security.length > 0,
      asksToken: parameters.some(({ name }) => name === 'X-CSRF-Token'),
      needsToken:
        parameters.some(({ name }) => name === 'X-CSRF-Token') &&
        // As their peers send files: without one, but for what brings settings back.
        (!('multipart/form-data' in (requestBody?.content ?? {})) || path.endsWith('restore')),
    })),
  );
}

function send(
  { url }: TestDaemon,
  { method, path }: Entry,
  { session = {}, token }: Credentials,
): Promise<Answer> {
  const query = token === undefined ? '' : `?token=${token}`;
  return ask(`${url}${path}${query}`, { method, headers: session, agent });
}

/**
 * Which requests were refused for want of a session or a token, or because nobody could be asked.
 */
function refusals(answers: readonly { name: string; answer: Answer }[]): string[] {
  return answers
    .filter(({ answer }) => [401, 403, 503].includes(answer.status))
    .map(
      ({ name, answer }) =>
        `${name}: ${answer.status}${answer.headers['x-luci-login-required'] === 'yes' ? ' log in' : ''}`,
    );
}

async function each(
  daemon: TestDaemon,
  credentials: (entry: Entry) => Promise<Credentials> | Credentials,
): Promise<{ name: string; entry: Entry; answer: Answer }[]> {
  const answers = [];
  for (const entry of await entriesOf(daemon)) {
    answers.push({
      name: `${entry.method} ${entry.path}`,
      entry,
      answer: await send(daemon, entry, await credentials(entry)),
    });
  }
  return answers;
}

/** One session for all but what may end it: a busy machine has no time for a hundred log-ins. */
function sharedBy(right: World['right']): (entry: Entry) => Promise<Required<Credentials>> {
  let shared: Promise<Required<Credentials>> | undefined;
  return ({ path }) =>
    /\/admin\/(login|logout|passwd)$/.test(path) ? right() : (shared ??= right());
}

test.for(['panel', 'password', 'none'] as const)(
  'with main.auth %s these paths, and no others, answer without a log-in',
  async (mode) => {
    const entries = await entriesOf(worlds[mode].daemon);

    const open = entries
      .filter(({ needsSession }) => !needsSession)
      .map(({ method, path }) => `${method} ${path}`);
    expect(open.sort()).toEqual([
      'GET /cgi-bin/panel',
      'GET /cgi-bin/panel/',
      'GET /cgi-bin/panel/admin/login',
      'GET /cgi-bin/panel/openapi.json',
      'GET /cgi-bin/panel/texts',
      'GET /healthz',
      'GET /metrics',
      'POST /cgi-bin/panel/admin/login',
      'POST /cgi-bin/panel/admin/passwd',
    ]);
    expect(entries.length).toBeGreaterThan(15);
  },
);

test.for(['panel', 'password', 'none'] as const)(
  'with main.auth %s every change but a log-in and a file that is sent needs a token',
  async (mode) => {
    const entries = await entriesOf(worlds[mode].daemon);

    const free = entries
      .filter(({ method, needsToken }) => method === 'POST' && !needsToken)
      .map(({ path }) => path);
    expect(free.sort()).toEqual([
      '/cgi-bin/panel/admin/login',
      '/cgi-bin/panel/admin/passwd',
      '/cgi-bin/panel/admin/store/add_backup',
      '/cgi-bin/panel/admin/store/upload',
    ]);
  },
);

describe.for(['panel', 'password'] as const)('with main.auth %s', (mode) => {
  test('no session and every wrong session get 403 and the log-in header wherever a session is needed, and only there', async () => {
    const { daemon, wrong, right } = worlds[mode];
    const sessions = { 'no session': {}, ...(await wrong()) };
    const { token } = await right();
    for (const [name, session] of Object.entries(sessions)) {
      const answers = await each(daemon, () => ({ session, token }));

      const expected = answers
        .filter(({ entry }) => entry.needsSession)
        .map((answer) => `${answer.name}: 403 log in`);
      expect(refusals(answers), name).toEqual(expected);
    }
  });

  test('a session without its token gets 403 wherever a token is needed, and only there', async () => {
    const { daemon, right } = worlds[mode];
    const { session } = await right();
    const other = await right();
    for (const credentials of [
      { session },
      { session, token: '' },
      { session, token: 'wrong' },
      { session, token: other.token },
    ]) {
      const answers = await each(daemon, () => credentials);

      expect(refusals(answers)).toEqual(
        answers
          .filter(({ entry }) => ('token' in credentials ? entry.asksToken : entry.needsToken))
          .map(({ name }) => `${name}: 403`),
      );
    }
  });

  test('a session with its token is refused nowhere', async () => {
    const { daemon, right } = worlds[mode];

    expect(refusals(await each(daemon, sharedBy(right)))).toEqual([]);
  });
});

describe('with main.auth none', () => {
  test('every path answers without a log-in, and changes need the token', async () => {
    const { daemon, right } = worlds.none;
    for (const credentials of [
      {},
      { token: 'wrong' },
      { token: (await worlds.panel.right()).token },
    ]) {
      const answers = await each(daemon, () => credentials);

      expect(refusals(answers)).toEqual(
        answers
          .filter(({ entry }) => ('token' in credentials ? entry.asksToken : entry.needsToken))
          .map(({ name }) => `${name}: 403`),
      );
    }
    expect(refusals(await each(daemon, sharedBy(right)))).toEqual([]);
  });

  test.for(['0.0.0.0:0', '[::]:0', '192.0.2.1:0', 'router.lan:0'])(
    '%s is no address to listen on',
    async (address) => {
      await expect(
        startDaemon(device, {
          set: ['main.auth=none', `main.listen=${address}`, 'main.state_dir=/etc/other'],
        }),
      ).rejects.toThrow('only loopback and unix addresses may go without log-in');
    },
  );
});

test('without a session an unknown path is unknown and a wrong method is wrong, in every mode', async () => {
  for (const { daemon } of Object.values(worlds)) {
    const base = `${daemon.url}${daemon.base}/admin/store`;

    expect((await ask(`${base}/nothing`)).status).toBe(404);
    expect((await ask(`${base}/install`)).status).toBe(405);
  }
});
