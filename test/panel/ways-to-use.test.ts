import { describe, expect, test } from 'vitest';

import type { Browser } from './browser.ts';
import { CHIP, choose, click, goTo, LOG, openPanel, type } from './open-panel.ts';
import { sharePanel, startPanel, startPanelDevice } from './start-panel.ts';

/** Tabs on until the focus is at an element of that selector. */
async function tabTo(browser: Browser, selector: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await browser.press('Tab');
    const isThere = `document.activeElement?.matches(${JSON.stringify(selector)}) === true`;
    if ((await browser.evaluate(isThere)) === true) return;
  }
  throw new Error(`cannot reach ${selector} with the Tab key`);
}

test('the keyboard alone finds an app, installs it and reads its log', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);
  await browser.until("document.querySelectorAll('#discover-list .app').length > 0");
  // Whoever comes to look for something types at once.
  expect(await browser.evaluate('document.activeElement.id')).toBe('discover-search');

  await tabTo(browser, 'nav a[href="#discover"]');
  await tabTo(browser, '#discover-search');
  await browser.evaluate(`{
    document.activeElement.value = 'demo';
    document.activeElement.dispatchEvent(new Event('input'));
  }`);
  await browser.until("document.querySelector('#discover-count').textContent === '1 found'");
  await tabTo(browser, '[aria-label^="Install"]');
  await browser.press('Enter');
  await browser.until("document.querySelector('#plan').open");
  await browser.until("!document.querySelector('#plan-yes').disabled");
  expect(
    await browser.evaluate("document.querySelector('#plan').contains(document.activeElement)"),
  ).toBe(true);
  await browser.press('Escape');
  await browser.until("!document.querySelector('#plan').open");
  expect(await browser.evaluate("document.activeElement.getAttribute('aria-label')")).toMatch(
    /^Install/,
  );
  await browser.press('Enter');
  await browser.until("document.querySelector('#plan').open");
  await browser.until("!document.querySelector('#plan-yes').disabled");
  await tabTo(browser, '#plan-yes');
  await browser.press('Enter');
  await browser.until("!document.querySelector('#plan').open");

  await browser.until(
    "document.querySelector('#discover-list .app .chip')?.checkVisibility() || document.querySelector('#discover-list a.button')?.checkVisibility()",
  );
  expect(await browser.evaluate("document.activeElement.closest('.app') !== null")).toBe(true);
  await goTo(browser, 'activity');
  await browser.until(`${LOG}.includes('Configuring demo-app.') && ${CHIP} === 'Done'`);
  await tabTo(browser, '.pane');
});

test('Enter in a field of the plan goes on with it, and on a box does nothing', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/#app/demo`);
  await click(browser, '#app-buttons .primary');
  await browser.until("!document.querySelector('#plan-yes').disabled");
  await click(browser, '#set-up summary');
  await click(browser, '#set-up-wanted');

  await browser.evaluate("document.querySelector('#set-up-wanted').focus()");
  await browser.press('Enter');
  expect(await browser.evaluate("document.querySelector('#plan').open")).toBe(true);
  await browser.evaluate(`{
    const field = document.querySelector('#set-up-path');
    field.value = '/mnt/data';
    field.focus();
  }`);
  await browser.press('Enter');

  await browser.until("document.querySelector('#app-buttons .danger-text') !== null");
});

test('a search that is misspelt leads to the one that was meant', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);
  await browser.until("document.querySelectorAll('#discover-list .app').length > 0");
  await type(browser, '#discover-search', 'nottes');

  await browser.until(
    "document.querySelector('#discover-empty button')?.textContent === 'Did you mean “notes”?'",
  );
  await browser.evaluate("document.querySelector('#discover-empty button').click()");

  await browser.until("document.querySelector('#discover-count').textContent === '1 found'");
  expect(await browser.evaluate('document.activeElement.value')).toBe('notes');
});

describe('with the longest names', () => {
  const longName = `long-${'x'.repeat(120)}`;
  const panel = sharePanel(
    {
      packages: [
        {
          name: longName,
          version: `1.0-${'9'.repeat(80)}`,
          architecture: 'all',
          fields: { Description: 'y'.repeat(300), Section: 'z'.repeat(60) },
          files: { '/usr/share/long': 'x' },
        },
      ],
    },
    {},
    async (daemon) => daemon.finished(await daemon.submit('install', { package: longName })),
  );

  test.each([320, 375, 1440, 2560])(
    'nothing sticks out of a window of %d pixels',
    async (width) => {
      const daemon = panel();
      const browser = await openPanel(`${daemon.url}${daemon.base}/`);
      await browser.picture({ width, height: 900, scheme: 'dark' });

      for (const view of [
        'discover',
        'installed',
        'updates',
        'activity',
        'device',
        `app/${longName}`,
      ]) {
        await goTo(browser, view);
        if (view === 'installed') {
          await browser.evaluate("document.querySelector('#installed-all').click()");
          await browser.until("document.querySelectorAll('#installed-list .app').length > 0");
        }
        await browser.until(
          "[...document.querySelectorAll('.state p')].every((each) => !each.checkVisibility() || each.textContent !== 'Loading …')",
        );
        const widths = '[document.documentElement.scrollWidth, innerWidth]';
        expect([view, await browser.evaluate(widths)]).toEqual([view, [width, width]]);
      }
    },
  );
});

test('at 320 pixels nothing that can be done with an app sticks out of its card', async () => {
  const { device, daemon } = await startPanelDevice();
  await daemon.finished(await daemon.submit('install', { package: 'demo' }));
  device.publish(2);
  await daemon.finished(await daemon.submit('update'));
  const browser = await openPanel(`${daemon.url}${daemon.base}/#installed`);
  await browser.picture({ width: 320, height: 900, scheme: 'light' });

  const shown =
    "[...document.querySelectorAll('#installed-list .foot :is(a, button)')].filter((each) => each.checkVisibility())";
  await browser.until(`${shown}.length === 3`);
  const outside = `${shown}.filter((each) => each.getBoundingClientRect().left < each.closest('.card').getBoundingClientRect().left)`;
  expect(await browser.evaluate(`${outside}.map(({ textContent }) => textContent)`)).toEqual([]);
});

test('a file that is dropped anywhere is installed when somebody agrees', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);
  const drop = (name: string): Promise<unknown> =>
    browser.evaluate(`{
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['#!/bin/sh\\necho it runs\\n'], ${JSON.stringify(name)}));
      const target = document.querySelector('#discover-title');
      for (const type of ['dragenter', 'dragover', 'drop']) {
        target.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
      }
    }`);

  await drop('notes.txt');
  await browser.until(
    "document.querySelector('#upload-problem').textContent.includes('must end in')",
  );
  await drop('hello.run');
  await browser.until("document.querySelector('#plan-body').textContent.includes('is a program')");
  await click(browser, '#plan-yes');
  await browser.until(`${LOG}.includes('it runs') && ${CHIP} === 'Done'`);
});

test('a file that has been sent while a question is open is asked about after it', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/#app/demo`);
  const title = "document.querySelector('#plan-title').textContent";
  await click(browser, '#app-buttons .primary');
  await browser.until("!document.querySelector('#plan-yes').disabled");

  await choose(browser, 'hello.run', "'#!/bin/sh\\necho it runs\\n'");
  await browser.until("document.querySelector('#upload-doing').hidden");

  expect(await browser.evaluate(title)).not.toContain('hello.run');
  await click(browser, '#plan-yes');
  await browser.until(`${title}.includes('hello.run') && document.querySelector('#plan').open`);
  await click(browser, '#plan-no');
  await browser.until("!document.querySelector('#plan').open");
  const tasks = async (): Promise<unknown> =>
    Object.values((await (await daemon.get('admin/system/tasks/status')).json()) as object);
  await expect.poll(tasks).toMatchObject([{ kind: 'install', package: 'demo' }]);
});
