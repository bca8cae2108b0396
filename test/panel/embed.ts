import { onTestFinished } from 'vitest';

import { launchBrowser, type Browser } from './browser.ts';

/** The embedded page. */
export const PAGE = "document.querySelector('iframe').contentDocument";

/**
 * A page of the device's own origin that embeds depotd's, as LuCI does; what it hears is in
 * `heard`.
 */
export async function embed(
  url: string,
  query = '',
  until = `${PAGE}?.querySelector('#link')?.dataset.state === 'up'`,
): Promise<Browser> {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  await browser.open(`${url}openapi.json`);
  await browser.evaluate(`{
    window.heard = [];
    addEventListener('message', ({ data, origin }) => heard.push({ ...data, origin }));
    const frame = document.createElement('iframe');
    frame.src = '${url}${query}';
    frame.style = 'width: 600px; height: 400px';
    document.body.append(frame);
  }`);
  await browser.until(until);
  return browser;
}
