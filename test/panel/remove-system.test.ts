import { expect, test } from 'vitest';

import { simplePackage } from '../device/packages/package-parts.ts';
import { click, goTo, openPanel, type } from './open-panel.ts';
import { startPanel } from './start-panel.ts';

const YES = "document.querySelector('#plan-yes')";

test('what the device stands on has no bin in lists; its own page says what stops and asks for its name', async () => {
  const daemon = await startPanel({ packages: [simplePackage('dnsmasq')] });
  for (const name of ['dnsmasq', 'demo']) {
    await daemon.finished(await daemon.submit('install', { package: name }));
  }
  const browser = await openPanel(`${daemon.url}${daemon.base}/#app/dnsmasq`);

  await goTo(browser, 'installed');
  await click(browser, '#installed-all');
  const bins = "[...document.querySelectorAll('#installed-list .danger-text')]";
  await browser.until(`${bins}.some(({ ariaLabel }) => ariaLabel === 'Remove demo-app')`);
  expect(
    await browser.evaluate(
      `${bins}.filter((bin) => bin.checkVisibility()).map(({ ariaLabel }) => ariaLabel)`,
    ),
  ).not.toContain('Remove dnsmasq');

  await goTo(browser, 'app/dnsmasq');
  const warning = 'devices of the network find no names and get no addresses';
  await browser.until(
    `document.querySelector('#app-body .problem-box')?.textContent.includes('${warning}')`,
  );
  await click(browser, '#app-buttons .danger-text');
  await browser.until("document.querySelector('#plan-typed')?.checkVisibility()");
  expect(await browser.evaluate(`${YES}.disabled`)).toBe(true);
  await type(browser, '#plan-name', 'dnsmas');
  expect(await browser.evaluate(`${YES}.disabled`)).toBe(true);
  await type(browser, '#plan-name', 'dnsmasq');
  await click(browser, '#plan-yes');

  await expect
    .poll(async () => (await daemon.get('admin/store/status?package=dnsmasq')).json())
    .toEqual({ installed: false });
});
