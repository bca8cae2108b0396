import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, onTestFinished, test } from 'vitest';

import type { TestDaemon } from '../device/daemon.ts';
import { ask } from '../support/ask.ts';
import { createOwner } from '../support/owner.ts';
import { createPanel, type Panel } from '../support/panel.ts';
import type { Browser } from './browser.ts';
import { click, goTo, openPanel } from './open-panel.ts';
import { sharePanel } from './start-panel.ts';

/** Another app of the device, at another port of the same host. */
interface Neighbour {
  url: string;
  /** What the browser sent by itself, newest last. */
  cookies: string[];
  setCookies: string[];
}

const IS_LOGIN = "document.querySelector('#password') !== null";
const IS_UP = "document.querySelector('#link')?.dataset.state === 'up'";

async function startNeighbour(): Promise<Neighbour> {
  const cookies: string[] = [];
  const setCookies: string[] = [];
  const server = createServer(({ headers }: IncomingMessage, response) => {
    if (headers.cookie !== undefined) cookies.push(headers.cookie);
    response.setHeader('set-cookie', setCookies);
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>An app</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, cookies, setCookies };
}

interface LoggedIn {
  daemon: TestDaemon;
  browser: Browser;
  neighbour: Neighbour;
  url: string;
}

let panel: Panel;
const daemons = {
  panel: sharePanel({}, async () => {
    panel = await createPanel();
    return { set: ['main.auth=panel'], env: panel.env };
  }),
  password: sharePanel({}, { set: ['main.auth=password'] }, (daemon) =>
    createOwner(daemon).setFirstPassword('labpass'),
  ),
};
afterAll(() => panel.close());

/** The owner has logged in, and opens an app of the device next. */
async function logIn(auth: 'panel' | 'password'): Promise<LoggedIn> {
  const daemon = daemons[auth]();
  const url = `${daemon.url}${daemon.base}/`;
  const browser = await openPanel(url, IS_LOGIN);
  await browser.evaluate("document.querySelector('#password').value = 'labpass'");
  await click(browser, 'form button');
  await browser.until(IS_UP);
  return { daemon, browser, neighbour: await startNeighbour(), url };
}

test.each(['panel', 'password'] as const)(
  'with main.auth %s what a browser sends an app on another port opens nothing here',
  async (auth) => {
    const on = await logIn(auth);
    const { browser, neighbour, daemon } = on;

    // The path brings the cookie that is for the panel's path alone.
    await browser.open(`${neighbour.url}${daemon.base}/admin/store/token`);

    const cookie = neighbour.cookies.at(-1) ?? '';
    expect(cookie).toMatch(/depotd_session=[\w-]{43}/);
    const { paths } = JSON.parse((await ask(`${daemon.url}${daemon.base}/openapi.json`)).text) as {
      paths: Record<string, Record<string, { responses: object; security: readonly object[] }>>;
    };
    const opened = [];
    let asked = 0;
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { responses, security }] of Object.entries(methods)) {
        // Without a session one can only log in.
        if (!('403' in responses) || security.length === 0) continue;
        asked += 1;
        const question = { method: method.toUpperCase(), headers: { cookie } };
        const { status } = await ask(`${daemon.url}${path}`, question);
        if (status !== 403) opened.push(`${method} ${path}: ${status}`);
      }
    }
    expect(opened).toEqual([]);
    expect(asked).toBeGreaterThan(40);
  },
  60_000,
);

test.each([
  ['another port', '127.0.0.1'],
  ['another port and name', 'localhost'],
])('a page of %s reads no key: not from the store, a frame or a window', async (_, host) => {
  const on = await logIn('password');
  const { browser, neighbour, url } = on;
  await browser.open(`${neighbour.url.replace('127.0.0.1', host)}/`);

  const seen = await browser.evaluate(`(async () => {
    const panel = ${JSON.stringify(url)};
    const attempt = async (read) => {
      try {
        return String(await read());
      } catch {
        return 'refused';
      }
    };
    const frame = document.createElement('iframe');
    frame.src = panel;
    document.body.append(frame);
    await new Promise((resolve) => frame.addEventListener('load', resolve));
    const opened = window.open(panel);
    const isBlank = async () => (await attempt(() => opened.location.href)) === 'about:blank';
    while (await isBlank()) await new Promise((resolve) => setTimeout(resolve, 20));
    const asked = (path, options) =>
      attempt(async () => (await fetch(panel + path, { credentials: 'include', ...options })).status);
    return [
      await attempt(() => Object.keys(localStorage).length),
      await attempt(() => frame.contentWindow.localStorage.length),
      await attempt(() => frame.contentDocument.body.textContent),
      await attempt(() => opened.localStorage.length),
      await asked('admin/store/token'),
      await asked('admin/ticket?for=admin/system/tasks/status'),
      await asked('admin/store/update', { method: 'POST', headers: { 'x-depotd-key': 'guess' } }),
    ];
  })()`);

  expect(seen).toEqual(['0', ...Array.from({ length: 6 }, () => 'refused')]);
});

test('cookies that a neighbour plants do not log the owner out', async () => {
  const on = await logIn('panel');
  const { browser, neighbour, daemon, url } = on;
  // A browser sends those of longer paths first.
  const paths = ['/', '/admin', '/admin/', '/admin/store', '/admin/store/', '/admin/system'];
  for (const path of paths) {
    neighbour.setCookies.push(`depotd_session=planted; Path=${daemon.base}${path}`);
  }
  await browser.open(`${neighbour.url}${daemon.base}/`);

  await browser.open(url);

  await browser.until(IS_UP);
});

test('a reload, another tab and a link that is opened go on without a log-in', async () => {
  const on = await logIn('password');
  const { browser, url } = on;

  await browser.open(`${url}#device`);
  await browser.evaluate('location.reload()');
  await browser.until(`${IS_UP} && location.hash === '#device'`);
  await browser.evaluate(`(window.other = window.open(${JSON.stringify(`${url}#updates`)}), 0)`);
  await browser.until(
    "window.other?.document.querySelector('#link')?.dataset.state === 'up' && " +
      "window.other.location.hash === '#updates'",
  );
});

test('a whole log is saved by an address that the browser opens without the key, once', async () => {
  const on = await logIn('password');
  const { browser } = on;
  await click(browser, '#update');
  await goTo(browser, 'activity');
  await browser.until("document.querySelector('#activity-list .chip')?.textContent === 'Done'");
  await browser.evaluate(
    'HTMLAnchorElement.prototype.click = function () { window.saved = this.href; }',
  );
  await click(browser, '.log-tools button:last-child');
  await browser.until('window.saved !== undefined');
  const address = String(await browser.evaluate('window.saved'));

  const [first, second] = [await ask(address), await ask(address)];

  expect([first.status, second.status]).toEqual([200, 403]);
  expect(first.text).toContain('Downloading');
});
