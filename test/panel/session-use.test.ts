import { expect, onTestFinished, test } from 'vitest';

import { slowPackage } from '../device/packages/awkward-packages.ts';
import { startCuttingProxy } from '../support/cutting-proxy.ts';
import { click, goTo, install, LOG, openPanel } from './open-panel.ts';
import { startPanel } from './start-panel.ts';

/** The reads so far; `background` says of each whether it was no use of the session. */
const RECORD = `{
  window.reads = [];
  const ask = fetch;
  window.fetch = (address, options) => {
    const { pathname, searchParams } = new URL(address, location.href);
    if (options?.method !== 'POST') reads.push({ pathname, background: searchParams.get('background') });
    return ask(address, options);
  };
}`;

const THREE_SECONDS_LATER =
  '{ reads.length = 0; const now = Date.now; Date.now = () => now() + 3000; }';
// A stream is none, whatever it says (features/login/event-sessions.test.ts).
const USES =
  "reads.filter(({ background, pathname }) => background !== '1' && !pathname.endsWith('/events'))";

test('what the page asks for by itself is no use of the session, three seconds after a click', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);
  await goTo(browser, 'device');
  await browser.until("document.querySelector('#disks-state').hidden");
  await browser.evaluate(RECORD);

  await browser.evaluate(
    "document.body.dispatchEvent(new Event('pointerdown', { bubbles: true }))",
  );
  await click(browser, '#self-check');
  await browser.until("reads.some(({ pathname }) => pathname.endsWith('check_self_upgrade'))");
  expect(
    await browser.evaluate(
      "reads.filter(({ pathname }) => pathname.endsWith('check_self_upgrade'))",
    ),
  ).toMatchObject([{ background: null }]);

  await browser.evaluate(THREE_SECONDS_LATER);
  await daemon.finished(await daemon.submit('install', { package: 'demo' }));
  await browser.until("reads.some(({ pathname }) => pathname.endsWith('installed'))");
  expect(await browser.evaluate(USES)).toEqual([]);
});

test('neither is it where streams are refused, while somebody watches a log', async () => {
  const daemon = await startPanel({ packages: [slowPackage(8)] });
  const proxy = await startCuttingProxy(() => daemon.url, { streamMs: 400, mostStreams: 0 });
  onTestFinished(() => proxy.close());
  const browser = await openPanel(`${proxy.url}${daemon.base}/`);
  await install(browser, 'slow');
  await browser.until(`${LOG}.includes('slow: postinst begin')`);

  await browser.evaluate(`${RECORD} ${THREE_SECONDS_LATER}`);
  await browser.until("reads.some(({ pathname }) => pathname.endsWith('tasks/log'))");
  expect(await browser.evaluate(USES)).toEqual([]);
});
