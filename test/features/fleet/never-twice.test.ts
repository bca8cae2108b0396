import { rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';

import { asOfAnotherBoot } from '../../support/power-cut.ts';
import { ipk, moduleOf, type FleetDevice } from './fleet-device.ts';
import { shareFleetDevice } from './shared-device.ts';
import type { StandIn } from './stand-in.ts';

let server: StandIn;
let on: FleetDevice;
let made = 0;

/** Counts its installations, and says when it is at it. */
function counted(name: string, more = ''): ReturnType<typeof ipk> {
  const postinst = `#!/bin/sh\necho ${name} >> "$IPKG_INSTROOT/count"\n${more}\n`;
  // What has come once is not fetched again.
  const files = { [`/usr/share/${name}`]: String((made += 1)) };
  return ipk(name, { files, scripts: { postinst } });
}
const publish = (name = 'one', more = ''): Promise<string> =>
  server.publish([moduleOf(counted(name, more))]);
const installations = async (): Promise<string[]> =>
  ((await on.device.read('count')) ?? '').split('\n').filter((line) => line !== '');
const PATIENCE = { timeout: 30_000 };
const untilInstalling = (): Promise<void> =>
  expect.poll(async () => (await on.poll(), installations()), PATIENCE).toEqual(['slow']);
const isReport = ({ url, method }: IncomingMessage): boolean =>
  method === 'POST' && url?.endsWith('/feedback') === true;

shareFleetDevice({}, (...shared) => ([server, on] = shared));
beforeEach(async () => {
  for (const name of ['count', 'go']) await rm(join(on.device.root, name), { force: true });
});

/** The requests of an action in their order, by what stands in them. */
const REQUESTS = [
  ['the poll', 0, /^GET \S+\/v1\/[^/]+$/],
  ['the question for the action', 0, /^GET .*deploymentBase/],
  ['the notice of the download', 0, /^POST .*deploymentBase/],
  ['the download', 0, /^GET .*artifacts/],
  ['the poll after the download', 1, /^GET \S+\/v1\/[^/]+$/],
  ['the notice of the installation', 1, /^POST .*deploymentBase/],
  ['the first report after that', 2, /^POST .*deploymentBase/],
] as const;

describe.each(REQUESTS)('a daemon that is killed at %s', (_, nth, pattern) => {
  test.each([
    ['before the server has it', false],
    ['when the server has it, and has not answered', true],
  ])('%s, installs once, and reports one end', async (__, isHandled) => {
    let seen = 0;
    let killed: Promise<unknown> | undefined;
    server.intercept = (request, response) => {
      const line = `${request.method ?? ''} ${request.url ?? ''}`;
      if (!pattern.test(line) || (seen += 1) !== nth + 1) return false;
      killed = on.daemon.kill('SIGKILL');
      if (isHandled) swallow(response);
      else response.destroy();
      return !isHandled;
    };
    const action = await server.assign(await publish(), on.id);
    const poll = (): Promise<unknown> => on.poll().catch(() => undefined);
    await expect.poll(async () => (await poll(), killed !== undefined), PATIENCE).toBe(true);
    await killed;
    await on.daemon.restart();

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
    expect(await installations()).toEqual(['one']);
    await on.poll();
    expect((await on.status()).action).toMatchObject({ result: 'success', is_reported: true });
  });
});

/** What the server answers does not arrive. */
function swallow(response: ServerResponse): void {
  response.end = () => response.destroy();
}

test('a daemon that is killed while its job installs goes on with it', async () => {
  const go = '$IPKG_INSTROOT/go';
  const set = await publish('slow', `while [ ! -e "${go}" ]; do sleep 0.1; done`);
  const action = await server.assign(set, on.id);
  await untilInstalling();
  await on.daemon.kill('SIGKILL');
  await on.daemon.restart();
  await writeFile(join(on.device.root, 'go'), '');

  expect(await on.over(action)).toMatchObject({ status: 'finished' });
  expect(await installations()).toEqual(['slow']);
});

describe('a device whose power goes', () => {
  const cutPower = async (): Promise<void> => {
    await on.daemon.kill('SIGKILL');
    await asOfAnotherBoot(join(on.device.root, 'etc/depotd/jobs.jsonl'));
    await writeFile(join(on.device.root, 'go'), '');
    await on.daemon.restart();
  };
  const wait = 'while [ ! -e "$IPKG_INSTROOT/go" ]; do sleep 0.1; done';

  test('while it installs has nothing of the action left, and says that it failed', async () => {
    const action = await server.assign(await publish('slow', `${wait}; exit 1`), on.id);
    await untilInstalling();
    await cutPower();

    const { status, messages } = await on.over(action);
    expect(status).toBe('error');
    expect(messages).toContain('error_code interrupted');
    expect((await on.device.database()).has('slow')).toBe(false);
  });

  test('before anything was changed begins the action again', async () => {
    let killed: Promise<unknown> | undefined;
    server.intercept = (request) => {
      // The notice that it installs: the job has just been asked for.
      const isMoment = request.method === 'POST' && server.requests.filter(isNotice).length === 2;
      if (isMoment) killed = on.daemon.kill('SIGKILL');
      return isMoment;
    };
    const action = await server.assign(await publish('one'), on.id);
    await expect.poll(() => (void on.poll().catch(() => undefined), killed)).toBeDefined();
    await killed;
    await cutPower();
    server.intercept = undefined;

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
    expect((await on.device.database()).get('one')).toBeDefined();
  });
});

function isNotice(line: string): boolean {
  return line.startsWith('POST') && line.includes('deploymentBase');
}

describe('a server that is put back from a backup', () => {
  test('and offers an action that is over gets its end again, and nothing is installed', async () => {
    const action = await server.assign(await publish(), on.id);
    const restore = server.snapshot();
    await on.over(action);
    restore();
    expect((await server.action(on.id, action)).status).toBe('running');

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
    expect(await installations()).toEqual(['one']);
  });

  test('and gives an id to another action has that one done, too', async () => {
    const restore = server.snapshot();
    const first = await server.assign(await publish('one'), on.id);
    await on.over(first);
    restore();
    const second = await server.assign(await publish('two'), on.id);
    expect(second).toBe(first);

    expect(await on.over(second)).toMatchObject({ status: 'finished' });
    expect(await installations()).toEqual(['one', 'two']);
  });

  test('and gives an id to another action ahead of the next poll has that one done, too', async () => {
    const sets = [await publish('one'), await publish('two')] as const;
    const restore = server.snapshot();
    const first = await server.assign(sets[0], on.id);
    let isEnded = false;
    let second: Promise<string> | undefined;
    server.rewrite = (path, body) => {
      if (path.endsWith('/feedback') && second === undefined) {
        void server.action(on.id, first).then(({ status }) => (isEnded ||= status === 'finished'));
      }
      return body;
    };
    server.intercept = ({ url = '' }) => {
      // Behind the end comes a poll: none has shown the device that the action is over.
      if (isEnded && second === undefined && /v1\/[^/]+$/.test(url)) {
        restore();
        second = server.assign(sets[1], on.id);
      }
      return false;
    };
    await expect.poll(async () => (await on.poll(), second), PATIENCE).toBeDefined();

    expect(await second).toBe(first);
    expect(await on.over(first)).toMatchObject({ status: 'finished' });
    expect(await installations()).toEqual(['one', 'two']);
  });

  const slow = 'while [ ! -e "$IPKG_INSTROOT/go" ]; do sleep 0.1; done';
  const beginSlowly = async (set: string): Promise<string> => {
    const action = await server.assign(set, on.id);
    await untilInstalling();
    // From here on nobody answers.
    server.intercept = (_, response) => {
      response.destroy();
      return true;
    };
    await writeFile(join(on.device.root, 'go'), '');
    return action;
  };
  const ended = async (): Promise<void> => {
    await expect.poll(async () => (await on.poll()).action?.result, PATIENCE).toBe('success');
  };

  test('while an action is installed, and gives its id to another one, has both done', async () => {
    const sets = [await publish('slow', slow), await publish('two')] as const;
    const restore = server.snapshot();
    const first = await beginSlowly(sets[0]);
    await ended();
    restore();
    expect(await server.assign(sets[1], on.id)).toBe(first);
    server.intercept = undefined;

    expect(await on.over(first)).toMatchObject({ status: 'finished' });
    expect(await installations()).toEqual(['slow', 'two']);
  });

  test('unseen, while an action is installed, and gives its id to another one, has both done', async () => {
    const sets = [await publish('slow', slow), await publish('two')] as const;
    const restore = server.snapshot();
    const first = await server.assign(sets[0], on.id);
    await untilInstalling();
    restore();
    expect(await server.assign(sets[1], on.id)).toBe(first);
    await writeFile(join(on.device.root, 'go'), '');

    expect(await on.over(first)).toMatchObject({ status: 'finished' });
    expect(await installations()).toEqual(['slow', 'two']);
  });

  test('and does not know an action, and gives its id to another one later, has both done', async () => {
    const sets = [await publish('slow', slow), await publish('two')] as const;
    const restore = server.snapshot();
    const first = await beginSlowly(sets[0]);
    await ended();
    restore();
    server.intercept = undefined;
    await on.poll();
    expect(await server.assign(sets[1], on.id)).toBe(first);

    expect(await on.over(first)).toMatchObject({ status: 'finished' });
    expect(await installations()).toEqual(['slow', 'two']);
  });

  test('and says that an action failed which it forgot is not told a success', async () => {
    const bad = ipk('bad', { fields: { Depends: 'absent' } });
    const action = await on.rollOut(moduleOf(bad));
    const restore = server.snapshot();
    await on.over(action);
    restore();

    expect(await on.over(action)).toMatchObject({ status: 'error' });
  });
});

describe('an end that the server does not take', () => {
  const refuseEnds = (times: number, answer: (response: ServerResponse) => void): void => {
    let left = times;
    server.intercept = (request, response) => {
      if (!isReport(request) || left === 0) return false;
      left -= 1;
      answer(response);
      return true;
    };
  };

  test.each<[string, (response: ServerResponse) => void]>([
    ['with 503', (response) => response.writeHead(503).end()],
    ['with 429 and no body: a filter', (response) => response.writeHead(429).end()],
    ['with 401', (response) => response.writeHead(401).end()],
    ['without an answer', (response) => response.destroy()],
  ])('%s, is sent until it does', async (_, answer) => {
    const action = await server.assign(await publish(), on.id);
    refuseEnds(5, answer);

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
    expect(await installations()).toEqual(['one']);
  });

  test('with 400, is sent without its details', async () => {
    const action = await server.assign(await publish(), on.id);
    refuseEnds(3, (response) => response.writeHead(400).end());

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
  });

  test('with 429 and a body, a quota, is not sent again', async () => {
    const action = await server.assign(await publish(), on.id);
    refuseEnds(1000, (response) => response.writeHead(429).end('{"errorCode":"quota"}'));
    await on.until(action, (_, { action: shown }) => shown?.is_reported === true);
    const before = server.requests.length;
    server.intercept = undefined;

    await on.poll();

    // Unless the server offers the action anew, as one does that was put back from a backup.
    const ofAction = server.requests.slice(before).filter((line) => /deploymentBase/.test(line));
    expect(ofAction[0]).toMatch(/^GET /);
    expect(await installations()).toEqual(['one']);
  });
});
