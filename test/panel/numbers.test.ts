import { expect, test } from 'vitest';

import { simplePackage } from '../device/packages/package-parts.ts';
import { goTo, openPanel } from './open-panel.ts';
import { startPanel } from './start-panel.ts';

test('one package and one hour are no packages and no hours', async () => {
  const daemon = await startPanel(
    { hasUsual: false, packages: [simplePackage('only')] },
    { set: ['packages.update_every_h=1'] },
  );
  await daemon.finished(await daemon.submit('install', { package: 'only' }));
  await daemon.finished(await daemon.submit('backup'));
  const browser = await openPanel(`${daemon.url}${daemon.base}/#device`);

  for (const list of ['feeds', 'backups']) {
    const row = `document.querySelector('#${list}-list li')`;
    await browser.until(`${row} !== null`);
    expect(await browser.evaluate(`${row}.textContent`)).toMatch(/1 package ·/);
  }
  await goTo(browser, 'updates');
  await browser.until("!document.querySelector('#updates-regular').hidden");
  expect(await browser.evaluate("document.querySelector('#updates-regular').textContent")).toMatch(
    /looked for every hour\./,
  );
});
