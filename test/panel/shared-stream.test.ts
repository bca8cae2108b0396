import { expect, onTestFinished, test } from 'vitest';

import { startCuttingProxy } from '../support/cutting-proxy.ts';
import { launchBrowser } from './browser.ts';
import { startPanel } from './start-panel.ts';

const page = (at: number): string => `document.querySelectorAll('iframe')[${at}].contentDocument`;
const isLive = (at: number): string =>
  `${page(at)}?.querySelector('#link')?.textContent === 'Live'`;

test('two pages are live over one stream, and the second goes on when the first has gone', async () => {
  const daemon = await startPanel();
  const proxy = await startCuttingProxy(() => daemon.url, { streamMs: 60_000, mostStreams: 1 });
  onTestFinished(() => proxy.close());
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  await browser.open(`${proxy.url}/openapi.json`);
  const add = (): Promise<unknown> =>
    browser.evaluate(`{
      const frame = document.createElement('iframe');
      frame.src = '${proxy.url}${daemon.base}/#installed';
      frame.style = 'width: 600px; height: 400px';
      document.body.append(frame);
    }`);
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
