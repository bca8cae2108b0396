import { expect, test } from 'vitest';

import { slowPackage } from '../device/packages/awkward-packages.ts';
import { agree, CHIP, choose, click, goTo, install, LOG, openPanel, type } from './open-panel.ts';
import { startPanel } from './start-panel.ts';

const CARDS = "document.querySelectorAll('#installed-list .app').length";
const TITLES =
  "[...document.querySelectorAll('.task-title')].map(({ textContent }) => textContent)";
const PROBLEM = "(document.querySelector('#activity-list .problem-box')?.textContent ?? '')";

test('somebody finds an app, sees its plan, installs it, watches its log and removes it', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);
  // Without a browser the page itself is all that can be looked at.

  await type(browser, '#discover-search', 'demo');
  await browser.until("document.querySelector('#discover-count').textContent === '1 found'");
  await click(browser, '#discover-list .app button.primary');
  await browser.until("document.querySelectorAll('#plan .changes li').length >= 2");
  const planned = await browser.evaluate("document.querySelector('#plan-body').textContent");
  expect(planned).toMatch(/Free afterwards/);
  expect(planned).toMatch(/app-meta-demo[^]*demo-app/);
  await agree(browser);
  await goTo(browser, 'activity');
  await browser.until(`${LOG}.includes('Configuring demo-app.') && ${CHIP} === 'Done'`);
  await browser.until(`${TITLES}.join() === 'Install Demo'`);

  await goTo(browser, 'installed');
  await browser.until(`${CARDS} === 1`);
  expect(await browser.evaluate("document.querySelector('#installed-list h3').textContent")).toBe(
    'Demo',
  );
  await click(browser, '[aria-label="Remove Demo"]');
  await browser.until(
    "document.querySelector('#plan').open && !document.querySelector('#plan-yes').disabled",
  );
  expect(((await (await daemon.get('admin/store/installed')).json()) as unknown[]).length).toBe(1);
  await click(browser, '#plan .danger');
  await browser.until(`${CARDS} === 0`);
  // Nothing else of the page knows then what the app is called; its feed does.
  await browser.open(`${daemon.url}${daemon.base}/?again#activity`);
  const title = 'app-meta-demo test package';
  await browser.until(`${TITLES}.join() === 'Remove ${title},Install ${title}'`);

  expect(browser.complaints).toEqual([]);
});

test('the page says why a task failed and what helps, stops one, and says when the daemon is gone', async () => {
  const daemon = await startPanel({ packages: [slowPackage(60)] });
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);

  await install(browser, 'badpost');
  await browser.until(`${PROBLEM}.includes('its script that runs after its installation')`);
  expect(await browser.evaluate(PROBLEM)).toMatch(/^A script of the package failed.*task log/s);
  const tasks = (await (await daemon.get('admin/system/tasks/status')).json()) as object;
  expect(Object.values(tasks)).toMatchObject([{ package: 'badpost', error_code: 'script_failed' }]);
  // Its notice elsewhere is not shown a second time beside it.
  expect(await browser.evaluate("document.querySelector('#notices').textContent")).toBe('');
  await install(browser, 'slow');
  await browser.until(`${LOG}.includes('slow: postinst begin')`);
  await click(browser, '.stop');
  await browser.until(`${CHIP} === 'Stopped'`);
  expect(browser.complaints).toEqual([]);

  await daemon.kill('SIGKILL');
  await browser.until(
    "document.querySelector('#link').dataset.state === 'down' && document.querySelectorAll('#notices .notice').length === 1",
  );
});

test('somebody sends a file, sees it run, and removes what it brought', async () => {
  const daemon = await startPanel({}, { set: ['main.upload_max_mb=1'] });
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);

  await choose(browser, 'notes.txt', "'hello'");
  await browser.until(
    "document.querySelector('#upload-problem').textContent.includes(' or .run.')",
  );
  // Only what brought a package can be taken back.
  const command = 'opkg -o "$IPKG_INSTROOT" --force-postinstall install libonce';
  await choose(browser, 'hello.run', `'#!/bin/sh\\necho it runs\\n${command}\\n'`);
  await browser.until(
    "document.querySelector('#plan-body').textContent.includes('it may do anything')",
  );
  await agree(browser);
  await browser.until(`${LOG}.includes('it runs') && ${CHIP} === 'Done'`);
  expect(await browser.evaluate("document.querySelector('.task-title').textContent")).toBe(
    'Install hello.run',
  );

  await goTo(browser, 'device');
  await click(browser, '[aria-label="Remove what hello.run brought"]');
  await click(browser, '#confirm-yes');
  await browser.until(
    `document.querySelector('.task-title').textContent === 'Remove what hello.run brought' && ${CHIP} === 'Done'`,
  );
  await goTo(browser, 'device');
  await browser.until("!document.querySelector('#records-empty').hidden");
  expect(browser.complaints).toEqual([]);

  await choose(browser, 'big.run', "'#!/bin/sh\\n' + 'x'.repeat(3e6)");
  await browser.until(
    "document.querySelector('#upload-problem').textContent.includes('it has more than 1.00 MiB')",
  );
});

/** What the daemon answers about container data, by the folder asked for; and what it is sent. */
const CONTAINER_ANSWERS = `{
  window.moves = [];
  const ask = window.fetch;
  const answers = { '/mnt/bad': { result: 'bad', error: 'not enough space' }, '/mnt/old': { result: 'existed' }, '/mnt/new': { result: 'good' } };
  window.fetch = (address, options) => {
    const { pathname, searchParams } = new URL(address, location.href);
    const answer = (body, status = 200) => Promise.resolve(new Response(JSON.stringify({ code: status, ...body }), { status }));
    if (pathname.endsWith('docker_check_dir')) return answer({ docker_on_system: true, has_engine: window.hasEngine });
    if (pathname.endsWith('docker_check_migrate')) return answer(answers[searchParams.get('path')]);
    if (!pathname.endsWith('docker_migrate')) return ask(address, options);
    options.body.delete('token');
    window.moves.push(options.body.toString());
    return answer({ code: 1, stdout: '', stderr: 'cannot take the request now' });
  };
}`;

test('somebody checks where the container data may go, and moves it; nothing is replaced unasked', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);
  await browser.evaluate(CONTAINER_ANSWERS);
  const check = async (path: string): Promise<void> => {
    await browser.evaluate(`document.querySelector('#move-path').value = ${JSON.stringify(path)}`);
    await click(browser, '#move [type=submit]');
  };

  await goTo(browser, 'device');
  await browser.until("document.querySelector('#move-location').textContent !== ''");
  expect(await browser.evaluate("document.querySelector('#containers').hidden")).toBe(true);
  await browser.evaluate('window.hasEngine = true');
  await goTo(browser, 'installed');
  await goTo(browser, 'device');
  await check('/mnt/bad');
  await browser.until(
    "document.querySelector('#move-state.problem')?.textContent === 'not enough space'",
  );
  await check('/mnt/new');
  await browser.until(
    "document.querySelector('#move-state').textContent.includes('Containers go on while it is copied')",
  );
  await click(browser, '#move-buttons .primary');
  await browser.until(
    "document.querySelector('#notices .notice')?.textContent === 'cannot take the request now'",
  );
  await check('/mnt/old');
  await click(browser, '#move-buttons .danger');
  await click(browser, '#confirm-no');
  await check('/mnt/old');
  await click(browser, '#move-buttons button');
  await browser.until('window.moves.length === 2');
  expect(await browser.evaluate('window.moves')).toEqual([
    'path=%2Fmnt%2Fnew',
    'path=%2Fmnt%2Fold&overwrite=chdir',
  ]);
});

test('an answer about a folder that is not in the field any more offers nothing for the one that is', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);
  await browser.evaluate(`${CONTAINER_ANSWERS} {
    const ask = window.fetch;
    window.hasEngine = true;
    window.fetch = async (address, options) => {
      const answer = await ask(address, options);
      if (String(address).includes('check_migrate')) await new Promise((go) => (window.release = go));
      return answer;
    };
  }`);
  await goTo(browser, 'device');

  await type(browser, '#move-path', '/mnt/new');
  await click(browser, '#move [type=submit]');
  await browser.until('window.release !== undefined');
  await type(browser, '#move-path', '/mnt/bad');
  await browser.evaluate('window.release()');
  await browser.evaluate('new Promise((done) => setTimeout(done, 100))');

  expect(await browser.evaluate("document.querySelector('#move').innerText")).not.toMatch(
    /Move|can/,
  );
});
