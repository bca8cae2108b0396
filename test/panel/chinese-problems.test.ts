import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { toLine } from '../../src/jobs/journal/record.ts';
import { LANGUAGES } from '../../src/languages/languages.ts';
import { PROBLEM_CODES, type Problem } from '../../src/package-management/problem.ts';
import { startDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import { jobOf } from '../jobs/job-of.ts';
import { saidProblems } from '../languages/said-problems.ts';
import { createPanel } from '../support/panel.ts';
import { launchBrowser, type Browser } from './browser.ts';
import { expectInLanguage } from './in-sight.ts';
import { click, goTo } from './open-panel.ts';
import { startPanel } from './start-panel.ts';

const CODES = LANGUAGES.map(({ code }) => code);
const SMALL = { width: 320, height: 900, scheme: 'light' } as const;

/** A device on whose record a task has failed for each of these. */
async function startWith(problems: readonly Problem[]): Promise<string> {
  const device = await createDevice();
  onTestFinished(() => device.close());
  await (await startDaemon(device)).close();
  const lines = problems.map(({ code, message, remedy }, index) =>
    toLine({
      ...jobOf(index.toString(16).padStart(32, '0')),
      ...{ state: 'failed', exitCode: 1, startedAt: 1, stoppedAt: index + 2 },
      ...{ error: message, errorCode: code, remedy },
    }),
  );
  await writeFile(join(device.root, 'etc/depotd/jobs.jsonl'), `${lines.join('\n')}\n`);
  const daemon = await startDaemon(device);
  onTestFinished(() => daemon.close());
  return `${daemon.url}${daemon.base}/`;
}

async function openBrowser(): Promise<Browser> {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  return browser;
}

test('a task that failed says why in each language, whatever the code, and nothing is cut', async () => {
  const all = saidProblems();
  const problems = PROBLEM_CODES.map((wanted) => all.find(({ code }) => code === wanted));
  const url = await startWith(problems.filter((each) => each !== undefined));
  const browser = await openBrowser();
  for (const code of CODES) {
    await browser.open(`${url}?lang=${code}#activity`);
    await browser.picture(SMALL);
    await browser.until("document.querySelectorAll('#activity-list .task').length > 10");
    await click(browser, '#activity-more');
    const heads = "[...document.querySelectorAll('#activity-list .task-head')]";
    const shown = new Set<unknown>();
    for (const index of PROBLEM_CODES.keys()) {
      await browser.evaluate(`${heads}[${index}].click()`);
      const open = "document.querySelector('#activity-list .is-open')";
      await browser.until(
        `${heads}[${index}].closest('.is-open')?.querySelector('.problem-cause')?.checkVisibility()`,
      );
      const cause = await browser.evaluate(`${open}.querySelector('.problem-box').innerText`);
      shown.add(cause);
      await expectInLanguage(browser, `${code}: ${String(cause)}`);
    }
    expect(shown.size).toBe(PROBLEM_CODES.length);
  }
});

test('a plan says each cause and each remedy in each language, and nothing is cut', async () => {
  const daemon = await startPanel();
  const plan = {
    ...{ installs: [], upgrades: [], removes: [], is_possible: false, problems: saidProblems() },
    ...{ download_bytes: 0, disk_bytes: 0, free_bytes: 1e6, free_after_bytes: 1e6 },
  };
  const browser = await openBrowser();
  for (const code of CODES) {
    await browser.open(`${daemon.url}${daemon.base}/?lang=${code}`);
    await browser.picture(SMALL);
    await browser.evaluate(`{
      const { fetch } = window;
      window.fetch = (url, options) => String(url).includes('store/plan')
        ? Promise.resolve(Response.json(${JSON.stringify(plan)}))
        : fetch(url, options);
    }`);
    await goTo(browser, 'app/demo');
    await click(browser, '#app-buttons .primary');
    await browser.until(
      `document.querySelectorAll('#plan .problem-box').length === ${plan.problems.length}`,
    );
    await expectInLanguage(browser, `${code}: a plan`);
  }
});

/** The log-in of a device whose root has no password, as OpenWrt is when it is new. */
async function startNew(): Promise<string> {
  const panel = await createPanel();
  onTestFinished(() => panel.close());
  const device = await createDevice();
  onTestFinished(() => device.close());
  await mkdir(join(device.root, 'etc'), { recursive: true });
  await writeFile(join(device.root, 'etc/shadow'), 'root::0:0:99999:7:::\n');
  const daemon = await startDaemon(device, { set: ['main.auth=panel'], env: panel.env });
  onTestFinished(() => daemon.close());
  return `${daemon.url}${daemon.base}/`;
}

test('who has no password yet is told what to do in each language, and nothing is cut', async () => {
  const daemon = await startPanel({}, { set: ['main.auth=password'] });
  const logIns = [`${daemon.url}${daemon.base}/`, await startNew()];
  const browser = await openBrowser();
  for (const code of CODES) {
    for (const url of logIns) {
      await browser.open(`${url}admin/login?lang=${code}`);
      await browser.picture(SMALL);
      const note = "document.querySelector('.note')?.textContent";
      await browser.until(`/root/.test(${note})`);
      expect(await browser.evaluate('document.documentElement.lang')).toBe(code);
      await browser.evaluate("document.querySelector('code')?.remove()");
      await expectInLanguage(browser, `${code}: the first password`);
    }
  }
});
