import { expect, onTestFinished, test } from 'vitest';

import type { TestDaemon } from '../device/daemon.ts';
import { startCuttingProxy, type CuttingProxy } from '../support/cutting-proxy.ts';
import { launchBrowser, type Browser } from './browser.ts';
import { startPanel } from './start-panel.ts';

const page = (at: number): string => `document.querySelectorAll('iframe')[${at}].contentDocument`;
const isLive = (at: number): string =>
  `${page(at)}?.querySelector('#link')?.textContent === 'Live'`;

interface Pages {
  daemon: TestDaemon;
  proxy: CuttingProxy;
  browser: Browser;
  add: () => Promise<unknown>;
}

/** Pages of one origin in a browser, and a server that has room for one stream. */
async function openPages(script = ''): Promise<Pages> {
  const daemon = await startPanel();
  const proxy = await startCuttingProxy(() => daemon.url, { streamMs: 60_000, mostStreams: 1 });
  onTestFinished(() => proxy.close());
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  await browser.runFirst(script);
  await browser.open(`${proxy.url}/openapi.json`);
  const add = (): Promise<unknown> =>
    browser.evaluate(`{
      const frame = document.createElement('iframe');
      frame.src = '${proxy.url}${daemon.base}/#installed';
      frame.style = 'width: 600px; height: 400px';
      document.body.append(frame);
    }`);
  return { daemon, proxy, browser, add };
}

test('two pages are live over one stream, and the second goes on when the first has gone', async () => {
  const { daemon, proxy, browser, add } = await openPages();
  await add();
  await browser.until(isLive(0));
  await add();
  await browser.until(isLive(1));
  expect(proxy.count).toEqual({ begun: 1, refused: 0 });

  const shown = `${page(1)}.querySelectorAll('#installed-list .app').length`;
  await daemon.finished(await daemon.submit('install', { package: 'demo' }));
  await browser.until(`${shown} === 1`);
  expect(proxy.count).toEqual({ begun: 1, refused: 0 });

  // The page that holds the stream is no longer looked at.
  await browser.evaluate(`{
    Object.defineProperty(${page(0)}, 'hidden', { configurable: true, value: true });
    ${page(0)}.dispatchEvent(new Event('visibilitychange'));
  }`);
  await expect.poll(() => proxy.count.begun).toBe(2);
  await browser.until(isLive(1));
  await daemon.finished(await daemon.submit('remove', { package: 'demo' }));
  await browser.until(`${shown} === 0`);
});

/** What pages tell each other arrives when the window lets it through. */
const HELD_BACK = `{
  const { set } = Object.getOwnPropertyDescriptor(BroadcastChannel.prototype, 'onmessage');
  Object.defineProperty(BroadcastChannel.prototype, 'onmessage', {
    set(listen) {
      set.call(this, async (event) => {
        await top.letThrough?.();
        listen(event);
      });
    },
  });
}`;

test('a page that is slow to answer keeps its stream', async () => {
  const { proxy, browser, add } = await openPages(HELD_BACK);
  await browser.evaluate('top.letThrough = () => new Promise((go) => setTimeout(go, 400))');
  await add();
  await browser.until(isLive(0));
  await add();
  await browser.until(isLive(1));

  expect(proxy.count).toEqual({ begun: 1, refused: 0 });
});

test('a page that hears of a stream while it asks in its place is live', async () => {
  const { proxy, browser, add } = await openPages(`${HELD_BACK}
    const ask = fetch;
    fetch = async (...asked) => {
      const answer = await ask(...asked);
      if (answer.status === 503) top.isRefused = true;
      else if (top.isRefused && asked[0].includes('tasks/status')) await top.letAnswer();
      return answer;
    };`);
  await add();
  await browser.until(isLive(0));
  await browser.evaluate(`{
    // As if the browser had ended and come back.
    localStorage.clear();
    const heard = new Promise((hear) => (top.hear = hear));
    top.letThrough = () => heard;
    top.letAnswer = () => new Promise((answer) => (top.answer = answer));
  }`);
  await add();
  await browser.until('top.answer !== undefined');
  expect(proxy.count).toEqual({ begun: 1, refused: 1 });
  await browser.evaluate('top.hear()');
  await browser.until(isLive(1));
  await browser.evaluate('top.letAnswer = () => {}, top.answer()');

  await browser.evaluate('new Promise((done) => setTimeout(done, 500))');
  expect(await browser.evaluate(isLive(1))).toBe(true);
});
