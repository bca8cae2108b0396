import { expect, test } from 'vitest';

import type { FeedPackage } from '../device/feed-index.ts';
import { simplePackage } from '../device/packages/package-parts.ts';
import { CHIP, click, goTo, openPanel } from './open-panel.ts';
import { startPanel } from './start-panel.ts';

const HUGE = simplePackage('huge', { installedSizeBytes: 10 ** 15 });
/** An app whose own package has its name, as most have. */
const FILMS: FeedPackage[] = [
  simplePackage('films', { files: { '/usr/share/films': 'x'.repeat(99_000) } }),
  simplePackage('app-meta-films', {
    fields: { Depends: 'libc, films', Description: 'Films and Series\n From your own disks.' },
    files: {
      '/usr/lib/opkg/meta/films.json': '{"name":"films","title":"Films","depends":["films"]}',
    },
  }),
];
/** What would not help, and what the page itself comes from. */
const OTHERS = [
  simplePackage('trifle', { files: { '/usr/share/trifle': 'x'.repeat(900) } }),
  simplePackage('luci-app-depotd', { files: { '/usr/share/page': 'x'.repeat(200_000) } }),
];
const PLAN = "document.querySelector('#plan-body').textContent";
const NAMES =
  "[...document.querySelectorAll('#installed-list .card-link')].map(({ hash }) => hash).join()";

test('what does not fit is said with what could go, and that is one click from its removal', async () => {
  const daemon = await startPanel({ packages: [HUGE, ...FILMS, ...OTHERS] });
  for (const name of ['films', 'trifle', 'luci-app-depotd']) {
    await daemon.finished(await daemon.submit('install', { package: name }));
  }
  const browser = await openPanel(`${daemon.url}${daemon.base}/#app/huge`);

  await click(browser, '#app-buttons .primary');
  await browser.until(`document.querySelector('.removable button') !== null`);
  const offered = await browser.evaluate(
    "[...document.querySelectorAll('.removable button')].map(({ textContent }) => textContent)",
  );
  expect(offered).toEqual(['Remove Films (120 KiB)']);
  expect(await browser.evaluate(PLAN)).toMatch(/Takes909.*Missing909/);
  expect(await browser.evaluate(PLAN)).toMatch(
    /909.* are missing, and these free 120 KiB together: more has to go/,
  );
  await browser.picture({ width: 320, height: 900, scheme: 'dark' });
  const sticksOut =
    '[...document.querySelectorAll(".problem-box *")].filter((each) => each.getBoundingClientRect().right > each.closest(".problem-box").getBoundingClientRect().right)';
  expect(await browser.evaluate(`${sticksOut}.map(({ textContent }) => textContent)`)).toEqual([]);
  await click(browser, '.removable button');
  await browser.until("document.querySelector('#plan-title').textContent === 'Remove Films?'");
  await click(browser, '#plan-yes');
  await browser.until("!document.querySelector('#plan').open");

  await goTo(browser, 'activity');
  // What has gone is called as its feed calls it, as soon as the page knows.
  await browser.until(
    `document.querySelector('.task-title')?.textContent.startsWith('Remove') && ${CHIP} === 'Done'`,
  );
  const answer = await daemon.get('admin/system/tasks/status');
  const tasks = Object.values((await answer.json()) as Record<string, { command: string }>);
  expect(tasks.map(({ command }) => command.split(' ')[1]).sort()).toEqual([
    ...['install', 'install', 'install'],
    'remove',
  ]);
});

test('an app and its own package of the same name are two of all packages, each with its page', async () => {
  const daemon = await startPanel({ packages: FILMS });
  await daemon.finished(await daemon.submit('install', { package: 'films' }));
  const browser = await openPanel(`${daemon.url}${daemon.base}/#installed/size`);

  await browser.until(`${NAMES} === '#app/films,#app/films/package'`);
  await goTo(browser, 'app/films/package');
  await browser.until("document.querySelector('#app-name').textContent === 'films · 1.0-1'");
  await browser.until("document.querySelector('#app-title').textContent === 'films'");
  await goTo(browser, 'app/films');
  await browser.until("document.querySelector('#app-title').textContent === 'Films'");
});
