import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import { createPanel, PANEL_PASSWORDS, type PanelUser } from '../support/panel.ts';
import type { Browser } from './browser.ts';
import { agree, CHIP, click, goTo, openPanel } from './open-panel.ts';
import { sharePanel, startPanel } from './start-panel.ts';

/** For pages to which no task of another test matters. */
const shared = sharePanel();

const IS_LOGIN = "document.querySelector('#username') !== null";
const BLANK = 'about:blank';

/** A browser that is not at the page yet, so that a script can run before it. */
async function openBlank(daemon: TestDaemon, script: string): Promise<Browser> {
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);
  await browser.open(BLANK);
  await browser.runFirst(script);
  return browser;
}

/** Answers of one path come by way of `hold`, which gets the real one. */
const holding = (path: string, hold: string): string => `{
  const ask = window.fetch;
  window.fetch = (address, options) => {
    const isIt = new URL(address, location.href).pathname.endsWith(${JSON.stringify(path)});
    return isIt ? (${hold})(() => ask(address, options)) : ask(address, options);
  };
}`;

test('Activity shows what runs even if the list of tasks does not come, and says that it is slow', async () => {
  const daemon = shared();
  const browser = await openBlank(daemon, holding('tasks/status', '() => new Promise(() => {})'));
  await browser.open(`${daemon.url}${daemon.base}/#activity`);
  await browser.until("document.querySelector('#link').dataset.state === 'up'");

  await daemon.finished(await daemon.submit('install', { package: 'demo' }));

  await browser.until(`${CHIP} === 'Done'`);
  await browser.until(
    "document.querySelector('#activity-state').textContent.startsWith('The device is taking long')",
  );
});

test('a list that was asked for before a task ended does not bring the task back', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/#activity`);
  await browser.evaluate(
    holding(
      'tasks/status',
      `async (ask) => {
        const answer = await ask();
        await new Promise((go) => (window.release = go));
        return answer;
      }`,
    ),
  );
  const id = await daemon.submit('install', { package: 'demo' });
  await browser.until(`${CHIP} === 'Running' || ${CHIP} === 'Waiting' || ${CHIP} === 'Done'`);
  await daemon.finished(id);
  await browser.until(`${CHIP} === 'Done'`);

  await browser.evaluate('window.release?.()');

  await browser.evaluate('new Promise((done) => requestAnimationFrame(done))');
  expect(await browser.evaluate(CHIP)).toBe('Done');
});

test('what cannot be shown says why, and comes when somebody tries again', async () => {
  const daemon = shared();
  const refusal = `new Response('{"code":500,"msg":"cannot read the lists"}', { status: 500 })`;
  const browser = await openBlank(
    daemon,
    holding('store/available', `(ask) => window.isMended ? ask() : Promise.resolve(${refusal})`),
  );
  await browser.open(`${daemon.url}${daemon.base}/`);

  await browser.until(
    "document.querySelector('#discover-state').textContent.includes('cannot read the lists')",
  );
  await browser.evaluate('window.isMended = true');
  await click(browser, '#discover-state button');
  await browser.until("document.querySelectorAll('#discover-list .app').length > 0");
});

test('the health of the device does not count as in order what was not checked', async () => {
  const daemon = shared();
  const checks = ['ok', 'skipped', 'ok', 'skipped', 'ok'].map((state, at) => ({
    ...{ id: `check-${at}`, message: '' },
    state,
  }));
  const answer = JSON.stringify(JSON.stringify({ checks }));
  const browser = await openBlank(
    daemon,
    holding('system/doctor', `() => Promise.resolve(new Response(${answer}))`),
  );
  await browser.open(`${daemon.url}${daemon.base}/#device`);

  await browser.until("!document.querySelector('#doctor-fine').hidden");

  expect(await browser.evaluate("document.querySelector('#doctor-fine-title').textContent")).toBe(
    '3 checks without a problem, 2 not checked',
  );
});

test('who is led to a card of the device sees it, also when the cards above it are filled later', async () => {
  const daemon = shared();
  const hold = 'async (ask) => { await opened; return ask(); }';
  const browser = await openBlank(
    daemon,
    [
      'window.opened = new Promise((open) => (window.go = open));',
      ...['device', 'doctor', 'disks'].map((name) => holding(`system/${name}`, hold)),
    ].join('\n'),
  );
  await browser.picture({ width: 375, height: 812, scheme: 'light' });
  await browser.open(`${daemon.url}${daemon.base}/#device/feeds`);
  await browser.until("document.querySelectorAll('#feeds-list li').length > 0");

  await browser.evaluate('window.go()');

  await browser.until("document.querySelectorAll('#disks-list li').length > 0");
  await browser.until(
    "(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.querySelector('#feeds').getBoundingClientRect())",
  );
});

test('a first list that does not come keeps nothing else from being asked for', async () => {
  const daemon = shared();
  await daemon.finished(await daemon.submit('install', { package: 'demo' }));
  const browser = await openBlank(
    daemon,
    holding('store/available', '() => new Promise(() => {})'),
  );
  await browser.open(`${daemon.url}${daemon.base}/`);

  const asked = ['store/token', 'store/installed', 'tasks/status'].map(
    (path) =>
      `performance.getEntriesByType('resource').some(({ name }) => name.includes('${path}'))`,
  );
  await browser.until(asked.join(' && '));
});

test('after a removal the focus is at what follows, not lost', async () => {
  const daemon = await startPanel();
  for (const name of ['demo', 'notes']) {
    await daemon.finished(await daemon.submit('install', { package: name }));
  }
  const browser = await openPanel(`${daemon.url}${daemon.base}/#installed`);
  await browser.until("document.querySelectorAll('#installed-list .app').length === 2");

  for (const [name, focus] of [
    ['Demo', "document.querySelector('#installed-list').contains(document.activeElement)"],
    ['Notes', "document.activeElement === document.querySelector('#installed-title')"],
  ] as const) {
    await browser.evaluate(`document.querySelector('[aria-label="Remove ${name}"]').focus()`);
    await click(browser, `[aria-label="Remove ${name}"]`);
    await agree(browser);
    await browser.until(`document.querySelector('[aria-label="Remove ${name}"]') === null`);
    expect([name, await browser.evaluate(focus)]).toEqual([name, true]);
  }
});

test('a task that ends leaves the focus among backups and feeds where it is', async () => {
  const daemon = await startPanel();
  for (const round of [1, 2]) {
    expect((await daemon.finished(await daemon.submit('backup'))).state, `${round}`).toBe('done');
  }
  const browser = await openPanel(`${daemon.url}${daemon.base}/#device`);
  const rows = (count: number): string =>
    `document.querySelectorAll('#backups-list li').length === ${count}`;
  const last = "[...document.querySelectorAll('#backups-list .danger-text')].at(-1)";
  await browser.until(rows(2));

  await browser.evaluate(`(window.chosen = ${last}).focus()`);
  await daemon.finished(await daemon.submit('backup'));
  await browser.until(rows(3));
  expect(await browser.evaluate('document.activeElement === chosen')).toBe(true);

  await browser.press('Enter');
  await click(browser, '#confirm-yes');
  await browser.until(rows(2));
  const isAmong = "document.querySelector('#backups-list').contains(document.activeElement)";
  expect(await browser.evaluate(isAmong)).toBe(true);

  const flag = "document.querySelector('#feeds-list button')";
  await browser.evaluate(`${flag}.focus()`);
  await daemon.finished(await daemon.submit('set_feed', { name: 'lab', upgrades: '0' }));
  await browser.until("document.querySelector('#feeds-list .chip') !== null");
  expect(await browser.evaluate(`document.activeElement === ${flag}`)).toBe(true);
});

test('a backup that has been deleted elsewhere cannot be had, and the page stays', async () => {
  const daemon = await startPanel();
  await daemon.finished(await daemon.submit('backup'));
  const browser = await openPanel(`${daemon.url}${daemon.base}/#device`);
  const download = '[aria-label^="Download the backup"]';
  await browser.until(`document.querySelector('${download}') !== null`);
  const { backups } = (await (await daemon.get('admin/store/backups')).json()) as {
    backups: { id: string }[];
  };
  await daemon.post('admin/store/remove_backup', { id: backups[0]?.id ?? '' });

  await click(browser, download);

  await browser.until(
    "performance.getEntriesByType('resource').some(({ name }) => name.includes('admin/ticket'))",
  );
  await browser.evaluate('new Promise((done) => setTimeout(done, 500))').catch(Boolean);
  expect(await browser.evaluate('location.hash')).toBe('#device');
});

test('an app that is current offers no upgrade, and one that was asked for says there was nothing to do', async () => {
  const daemon = await startPanel();
  await daemon.finished(await daemon.submit('install', { package: 'demo' }));
  await daemon.finished(await daemon.submit('upgrade', { package: 'demo' }));
  const browser = await openPanel(`${daemon.url}${daemon.base}/#installed`);

  await browser.until("document.querySelectorAll('#installed-list .app').length === 1");
  const shown = `[...document.querySelectorAll('#installed-list button')].filter((each) => each.checkVisibility()).map((each) => each.getAttribute('aria-label'))`;
  expect(await browser.evaluate(shown)).toEqual(['Remove Demo']);
  await goTo(browser, 'activity');
  await browser.until(`${CHIP} === 'Nothing to do'`);
});

/** Who logs in by the page at a device with LuCI's users. */
async function openAs(user: PanelUser, shadow?: string): Promise<Browser> {
  const panel = await createPanel();
  onTestFinished(() => panel.close());
  const device = await createDevice();
  onTestFinished(() => device.close());
  await device.opkg('update');
  if (shadow !== undefined) {
    await mkdir(join(device.root, 'etc'), { recursive: true });
    await writeFile(join(device.root, 'etc/shadow'), shadow);
  }
  const daemon = await startDaemon(device, { set: ['main.auth=panel'], env: panel.env });
  onTestFinished(() => daemon.close());
  const browser = await openPanel(`${daemon.url}${daemon.base}/`, IS_LOGIN);
  await browser.evaluate(`{
    document.querySelector('#username').value = '${user}';
    document.querySelector('#password').value = '${PANEL_PASSWORDS[user]}';
  }`);
  return browser;
}

test('who may only read finds every button disabled that changes something, with the reason', async () => {
  const browser = await openAs('reader');
  await click(browser, 'form button');
  await browser.until("document.querySelectorAll('#discover-list .app').length > 0");
  await browser.until("document.querySelector('#read-only')?.checkVisibility()");

  for (const view of ['discover', 'installed', 'updates', 'device', 'app/demo']) {
    await goTo(browser, view);
    const enabled =
      "[...document.querySelectorAll('[data-write]')].filter((each) => !each.disabled || each.title === '').map((each) => each.outerHTML)";
    expect([view, await browser.evaluate(enabled)]).toEqual([view, []]);
  }
});

test.each([
  ['root::0:0:99999:7:::\n', true],
  ['root:$1$abc$def:0:0:99999:7:::\n', false],
])('the log-in says whether root has no password: %j', async (shadow, isSaid) => {
  const browser = await openAs('root', shadow);

  expect(
    await browser.evaluate("document.body.textContent.includes('root has no password yet')"),
  ).toBe(isSaid);
});

test('markup in what packages say of themselves is text', async () => {
  const markup = '<img src=x onerror="window.isHurt=1"><script>window.isHurt=1</script>';
  const daemon = await startPanel({
    packages: [
      {
        name: 'evil',
        version: '1.0-1',
        architecture: 'all',
        fields: { Description: markup, Section: markup, License: markup, Maintainer: markup },
        files: { '/usr/share/evil': 'x' },
      },
    ],
  });
  const browser = await openPanel(`${daemon.url}${daemon.base}/#app/evil`);

  await browser.until(
    "document.querySelector('#app-description').textContent.includes('<img src=x onerror')",
  );
  expect(await browser.evaluate("document.querySelectorAll('#view-app img').length")).toBe(0);
  expect(await browser.evaluate('window.isHurt === undefined')).toBe(true);
  expect(browser.complaints).toEqual([]);
});
