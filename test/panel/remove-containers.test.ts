import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { containerApp } from '../features/containers/container-app.ts';
import { startEngine } from '../features/containers/stand-in-engine.ts';
import { click, goTo, openPanel } from './open-panel.ts';
import { startPanel } from './start-panel.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('the dialog of a removal names containers and data; a box has data and images go, too', async () => {
  const folder = await temporaryFolder();
  const engine = await startEngine(join(folder, 'engine.sock'));
  onTestFinished(() => engine.close());
  engine.images.push('films/films');
  engine.volumes.push('films-data');
  engine.containers.push({ name: 'films', image: 'films/films', volumes: ['films-data'] });
  const daemon = await startPanel(
    { packages: [containerApp('films')] },
    { set: [`container.socket=${engine.socket}`] },
  );
  await daemon.finished(await daemon.submit('install', { package: 'luci-app-films' }));
  const browser = await openPanel(`${daemon.url}${daemon.base}/#app/luci-app-films`);

  await goTo(browser, 'app/luci-app-films');
  await click(browser, '#app-buttons .danger-text');
  await browser.until("document.querySelector('#plan-purge')?.checkVisibility()");
  const text = await browser.evaluate("document.querySelector('#plan-body').innerText");
  expect(text).toContain('films/films · no fixed version');
  expect(text).toContain('Its data: /var/lib/docker/volumes/films-data/_data');
  expect(await browser.evaluate("document.querySelector('#plan-purged').checked")).toBe(false);
  await click(browser, '#plan-purged');
  await click(browser, '#plan-yes');

  await expect
    .poll(() => engine.deeds)
    .toEqual([
      ...['stop films', 'remove films', 'remove volume films-data', 'remove image films/films'],
    ]);
});
