import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';

import { launchBrowser } from './browser.ts';
import { embed, PAGE } from './embed.ts';
import { sharePanel, startPanel } from './start-panel.ts';

const panel = sharePanel();

const THEME = `${PAGE}.documentElement.dataset.theme`;
const GROUND = `getComputedStyle(${PAGE}.body).backgroundColor`;
const [LIGHT, DARK] = ['rgb(244, 246, 249)', 'rgb(13, 16, 21)'];

test('whoever embeds the page chooses its language and its theme, that one later, too', async () => {
  const daemon = panel();
  const browser = await embed(`${daemon.url}${daemon.base}/`, '?theme=dark&lang=zh-cn');
  expect([await browser.evaluate(THEME), await browser.evaluate(GROUND)]).toEqual(['dark', DARK]);
  expect(await browser.evaluate(`${PAGE}.querySelector('#discover-title').textContent`)).toBe(
    '发现',
  );

  const send = (message: string): Promise<unknown> =>
    browser.evaluate(
      `document.querySelector('iframe').contentWindow.postMessage(${message}, location.origin)`,
    );
  await send("{ depotd: 'theme', theme: 'light' }");
  await browser.until(`${THEME} === 'light' && ${GROUND} === '${LIGHT}'`);
  for (const odd of ['null', '"theme"', '{}', "{ depotd: 'constructor' }", '{ depotd: 1 }']) {
    await send(odd);
  }
  await send("{ depotd: 'theme', theme: '\"><script>' }");
  await browser.until(`${THEME} === undefined`);

  // The embedding document names no icon, and the browser asks for the usual one.
  expect(browser.complaints.filter((text) => !text.endsWith('/favicon.ico'))).toEqual([]);
});

const LOOK = {
  theme: 'light',
  ink: 'rgb(64, 64, 64)',
  card: 'rgb(250, 250, 250)',
  accent: 'rgb(25, 118, 210)',
  'on-accent': '#fff',
  radius: '3px',
  size: '14px',
  font: 'serif',
};

test("inside another page it has that page's look and no head of its own", async () => {
  const daemon = panel();
  const browser = await embed(
    `${daemon.url}${daemon.base}/`,
    `?${new URLSearchParams(LOOK).toString()}`,
  );
  const styleOf = (selector: string, property: string): Promise<unknown> =>
    browser.evaluate(`getComputedStyle(${PAGE}.querySelector('${selector}')).${property}`);

  expect(await browser.evaluate(GROUND)).toBe('rgba(0, 0, 0, 0)');
  expect(await styleOf('body', 'color')).toBe(LOOK.ink);
  expect(await styleOf('body', 'fontFamily')).toBe(LOOK.font);
  const button = '#discover-list .app .primary:not([hidden])';
  await browser.until(`${PAGE}.querySelector('${button}') !== null`);
  expect(await styleOf(button, 'backgroundColor')).toBe(LOOK.accent);
  expect(await styleOf(button, 'borderRadius')).toBe(LOOK.radius);
  expect(
    await browser.evaluate(`${PAGE}.querySelector('.brand').getBoundingClientRect().width`),
  ).toBe(1);

  const changed = { ...LOOK, theme: 'dark', ink: 'rgb(200, 200, 200)', depotd: 'theme' };
  const send = (message: unknown): Promise<unknown> =>
    browser.evaluate(
      `document.querySelector('iframe').contentWindow.postMessage(${JSON.stringify(message)}, location.origin)`,
    );
  await send(changed);
  await browser.until(
    `${THEME} === 'dark' && getComputedStyle(${PAGE}.body).color === '${changed.ink}'`,
  );
  await send({ ...changed, ink: 'url(//elsewhere.example)' });
  await browser.until(`${GROUND} === '${DARK}'`);
});

test('a dialog opens in the part of a high frame that is in sight', async () => {
  const daemon = panel();
  const browser = await embed(`${daemon.url}${daemon.base}/`);
  await browser.evaluate(`{
    const frame = document.querySelector('iframe');
    frame.style.height = '5000px';
    frame.contentWindow.postMessage({ depotd: 'seen', top: 3000, height: 600 }, location.origin);
  }`);
  const install = `${PAGE}.querySelector('#discover-list .app .primary:not([hidden])')`;
  await browser.until(`${install} !== null`);
  await browser.evaluate(`${install}.click()`);
  await browser.until(`${PAGE}.querySelector('#plan li') !== null`);

  const box = `${PAGE}.querySelector('#plan').getBoundingClientRect()`;
  await browser.until(`${box}.top >= 3000 && ${box}.bottom <= 3600`);
});

test('the page says how high it is, again when that changes', async () => {
  const daemon = panel();
  const browser = await embed(`${daemon.url}${daemon.base}/`);
  const height = `heard.findLast(({ depotd }) => depotd === 'height')?.height`;
  await browser.until(`${height} === ${PAGE}.body.offsetHeight`);
  const before = Number(await browser.evaluate(height));

  await browser.evaluate(`${PAGE}.location.hash = '#device'`);
  await browser.until(`${height} > ${before} && ${height} === ${PAGE}.body.offsetHeight`);

  expect(await browser.evaluate('heard.every(({ origin }) => origin === location.origin)')).toBe(
    true,
  );
});

test('a short page asks for the room in which a plan is seen whole', async () => {
  const daemon = panel();
  const browser = await embed(`${daemon.url}${daemon.base}/`);
  await browser.evaluate(`{
    const frame = document.querySelector('iframe');
    addEventListener('message', ({ data }) => {
      if (data.depotd === 'height') frame.style.height = data.height + 'px';
    });
    const field = ${PAGE}.querySelector('#discover-search');
    field.value = 'demo';
    field.dispatchEvent(new Event('input'));
  }`);
  const shown = `${PAGE}.querySelectorAll('#discover-list .app')`;
  await browser.until(`${shown}.length === 1 && ${shown}[0].checkVisibility()`);
  const frame = "document.querySelector('iframe')";
  await browser.until(`${frame}.offsetHeight < 500`);

  await browser.evaluate(`${shown}[0].querySelector('.primary:not([hidden])').click()`);
  await browser.until(`${PAGE}.querySelector('#plan li') !== null`);
  await browser.evaluate(`${PAGE}.querySelector('#set-up').open = true`);

  await browser.until(
    `(({ scrollHeight, clientHeight }) => scrollHeight === clientHeight)(${PAGE}.querySelector('#plan'))`,
  );
  await browser.evaluate(`${PAGE}.querySelector('#plan-no').click()`);
  await browser.until(`${frame}.offsetHeight < 500`);
});

test('a message from another window than the embedding one changes nothing', async () => {
  const daemon = panel();
  const browser = await embed(`${daemon.url}${daemon.base}/`, '?theme=dark');

  await browser.evaluate(`{
    const other = document.createElement('iframe');
    document.body.append(other);
    const script = other.contentDocument.createElement('script');
    script.textContent = "parent.frames[0].postMessage({ depotd: 'theme', theme: 'light' }, '*')";
    other.contentDocument.body.append(script);
  }`);
  // Messages arrive in order, so that this one is the last to be read.
  await browser.evaluate(
    `document.querySelector('iframe').contentWindow.postMessage({ depotd: 'none' }, '*')`,
  );
  await browser.evaluate('new Promise((done) => setTimeout(done, 100))');

  expect(await browser.evaluate(THEME)).toBe('dark');
});

test('a page without a session asks the embedding one, and goes on when it is logged in', async () => {
  const daemon = panel();
  const browser = await embed(`${daemon.url}${daemon.base}/`);
  expect(await browser.evaluate(`${PAGE}.querySelector('#logout').hidden`)).toBe(true);

  // As the daemon answers when the session has ended.
  await browser.evaluate(`{
    const { contentWindow } = document.querySelector('iframe');
    const real = contentWindow.fetch;
    window.logIn = () => (contentWindow.fetch = real);
    const headers = { 'x-luci-login-required': 'yes' };
    contentWindow.fetch = async () => new Response('{"msg":"no"}', { status: 403, headers });
    contentWindow.document.querySelector('#update').click();
  }`);
  await browser.until("heard.some(({ depotd }) => depotd === 'login-needed')");
  expect(await browser.evaluate(`${PAGE}.querySelector('#link').dataset.state`)).toBe('login');
  // Where that does not help: the whole window, not a log-in inside the frame.
  expect(
    await browser.evaluate(
      `(({ href, target }) => [href === location.href, target])(${PAGE}.querySelector('#notices a'))`,
    ),
  ).toEqual([true, '_top']);

  await browser.evaluate(
    "logIn(); document.querySelector('iframe').contentWindow.postMessage({ depotd: 'logged-in' }, location.origin)",
  );
  await browser.until(`${PAGE}.querySelector('#link').dataset.state === 'up'`);
  expect(await browser.evaluate(`${PAGE}.querySelectorAll('#notices .notice').length`)).toBe(0);
});

test("with depotd's own password the log-in is in the frame: nobody else can log in there", async () => {
  const daemon = await startPanel({}, { set: ['main.auth=password'] });
  const browser = await embed(
    `${daemon.url}${daemon.base}/`,
    '',
    `${PAGE}?.location.pathname.endsWith('/admin/login') && ${PAGE}.readyState === 'complete'`,
  );

  expect(await browser.evaluate(`${PAGE}.querySelector('h1').textContent`)).toBe('Log in');
  expect(await browser.evaluate("heard.some(({ depotd }) => depotd === 'login-needed')")).toBe(
    false,
  );
});

test('a page of another origin cannot embed it', async () => {
  const daemon = panel();
  const url = `${daemon.url}${daemon.base}/`;
  const answer = await fetch(url);
  expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'self'");
  expect(answer.headers.get('x-frame-options')).toBe('SAMEORIGIN');
  const server = createServer((_, response) =>
    response
      .setHeader('content-type', 'text/html')
      .end(`<iframe src="${url}" onload="document.title = 'loaded'"></iframe>`),
  ).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());

  await browser.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await browser.until("document.title === 'loaded'");

  expect(browser.complaints.join()).toMatch(/frame-ancestors|X-Frame-Options/i);
});

test('the embedding page hears when a task has ended, as its menu may have changed', async () => {
  const daemon = panel();
  const browser = await embed(`${daemon.url}${daemon.base}/`);
  await daemon.finished(await daemon.submit('install', { package: 'demo' }));
  await browser.until("heard.some(({ depotd }) => depotd === 'changed')");
});
