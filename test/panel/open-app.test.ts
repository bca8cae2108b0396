import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import type { TestDaemon } from '../device/daemon.ts';
import { openPanel } from './open-panel.ts';
import { startPanelDevice } from './start-panel.ts';

const ENTRY = '/cgi-bin/luci/admin/services/demo';
const CARD = "document.querySelector('#installed-list .app')";
const OPEN = `${CARD}?.querySelector('a.button')`;

/** A daemon on a device with one app. @param uhttpd how its web server is configured */
async function startWithApp(uhttpd: string): Promise<TestDaemon> {
  const { daemon } = await startPanelDevice({}, {}, ({ root }) =>
    writeFile(join(root, 'etc/config/uhttpd'), uhttpd),
  );
  await daemon.finished(await daemon.submit('install', { package: 'demo' }));
  return daemon;
}

/** The panel's web server, as far as that matters: it has the app's page. */
async function startWebServer(): Promise<number> {
  const server: Server = createServer((request, response) => {
    response.statusCode = request.url === ENTRY ? 200 : 404;
    response.end(request.url === ENTRY ? 'the page of demo' : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

test("an app opens at the panel's web server, though the page is at depotd's own port", async () => {
  const port = await startWebServer();
  const daemon = await startWithApp(
    `config uhttpd 'main'\n\tlist listen_http '127.0.0.1:${port}'\n`,
  );
  const browser = await openPanel(`${daemon.url}${daemon.base}/#installed`);

  await browser.until(`${OPEN}?.checkVisibility()`);
  const address = String(await browser.evaluate(`${OPEN}.href`));

  expect(address).toBe(`http://127.0.0.1:${port}${ENTRY}`);
  expect(await (await fetch(address)).text()).toBe('the page of demo');
  await browser.open('about:blank');
  await browser.open(`${daemon.url}${daemon.base}/#app/demo`);
  await browser.until(`document.querySelector('#app-buttons a')?.href === '${address}'`);
});

test('where nothing is known of a web server, no link leads to a page that is not there', async () => {
  const daemon = await startWithApp('');
  const browser = await openPanel(`${daemon.url}${daemon.base}/#installed`);

  await browser.until(`${CARD}?.innerText.includes('Open it in LuCI')`);

  expect(await browser.evaluate(`${OPEN}.checkVisibility()`)).toBe(false);
  await browser.evaluate("location.hash = '#app/demo'");
  await browser.until(
    "document.querySelector('#app-buttons').innerText.includes('Open it in LuCI')",
  );
  expect(await browser.evaluate("document.querySelector('#app-buttons a')")).toBe(null);
});
