import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { onTestFinished, test } from 'vitest';

import { LANGUAGES, voiceOf } from '../../src/languages/languages.ts';
import { simplePackage } from '../device/packages/package-parts.ts';
import { containerApp } from '../features/containers/container-app.ts';
import { startEngine } from '../features/containers/stand-in-engine.ts';
import {
  createFleetDevice,
  ipk,
  moduleOf,
  type FleetDevice,
} from '../features/fleet/fleet-device.ts';
import { createStandIn } from '../features/fleet/stand-in.ts';
import type { Browser } from './browser.ts';
import { expectInLanguage } from './in-sight.ts';
import { agree, click, goTo, openPanel, type } from './open-panel.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Opened {
  on: FleetDevice;
  browser: Browser;
  look: (where: string) => Promise<void>;
}

/** A device with a fleet that asks, a forge, containers and what iStore leaves. */
async function openDevice(code: string): Promise<Opened> {
  const folder = await temporaryFolder();
  const engine = await startEngine(join(folder, 'engine.sock'));
  onTestFinished(() => engine.close());
  engine.containers.push({ name: 'films', image: 'films/films', volumes: ['films-data'] });
  engine.images.push('films/films');
  engine.volumes.push('films-data');
  const server = await createStandIn();
  onTestFinished(() => server.close());
  const on = await createFleetDevice(server, {
    device: { packages: [simplePackage('dnsmasq'), containerApp('films')] },
    set: [
      'fleet.confirm=ask',
      'forge.upstream=http://127.0.0.1:1',
      `container.socket=${engine.socket}`,
    ],
  });
  onTestFinished(() => on.close());
  for (const [path, text] of [
    ['bin/is-opkg', '#!/bin/sh\nFEEDS_SERVER=http://127.0.0.1:1\nFEEDS_SERVER_MIRRORS=""\n'],
    ['tmp/is-root/etc/opkg/meta.conf', 'src/gz is_meta http://127.0.0.1:1/feed\n'],
  ] as const) {
    await mkdir(dirname(join(on.device.root, path)), { recursive: true });
    await writeFile(join(on.device.root, path), text);
  }
  const action = await server.assign(await server.publish([moduleOf(ipk('one'))]), on.id, {
    type: 'soft',
  });
  await on.until(action, (_, { action: shown }) => shown?.state === 'asking');
  const browser = await openPanel(`${on.daemon.url}${on.daemon.base}/?lang=${code}`);
  await browser.picture({ width: 320, height: 900, scheme: 'light' });
  const look = async (where: string): Promise<void> => {
    await browser.evaluate(
      "document.querySelectorAll('details').forEach((each) => (each.open = true))",
    );
    await expectInLanguage(browser, where, code === 'en');
  };
  return { on, browser, look };
}

test.each(['en', ...LANGUAGES.map(({ code }) => code)])(
  'in %s the fleet, iStore, containers, backups, undo and the ways back are said, and nothing is cut',
  async (code) => {
    const { on, browser, look } = await openDevice(code);
    const shows = (selector: string): Promise<void> =>
      browser.until(`document.querySelector(${JSON.stringify(selector)})?.checkVisibility()`);
    const dialog = async (where: string, opener: string): Promise<void> => {
      await click(browser, opener);
      await browser.until("document.querySelector('dialog[open]') !== null");
      await browser.until("document.querySelector('dialog[open]').textContent.length > 40");
      await look(where);
      await click(browser, 'dialog[open] [value="no"]');
    };
    for (const name of ['dnsmasq', 'luci-app-films', 'demo', 'absent', 'badpost']) {
      await on.daemon.finished(await on.daemon.submit('install', { package: name })).catch(Boolean);
    }
    await on.daemon.finished(await on.daemon.submit('backup', {}));

    await goTo(browser, 'device');
    await click(browser, '#fleet-poll');
    await shows('#fleet-agree');
    await shows('#feeds-istore-add');
    await shows('#backups-list button');
    await look('device');
    await dialog("iStore's catalogue", '#feeds-istore-add');
    await dialog('a restore', '#backups-list button');
    await dialog('a backup goes', '#backups-list .danger-text');
    await browser.evaluate("document.querySelector('#move-path').value = '/absent'");
    await click(browser, '#move [type=submit]');
    await browser.until("document.querySelector('#move-state').textContent.length > 10");
    await look('a move of containers');
    for (const name of ['dnsmasq', 'luci-app-films', 'libc']) {
      await goTo(browser, `app/${name}`);
      await shows('#app-buttons button');
      await look(`app/${name}`);
      if (name !== 'libc') await dialog(`remove ${name}`, '#app-buttons .danger-text');
    }
    await goTo(browser, 'activity');
    await shows('#activity-list .task');
    await browser.evaluate(
      "document.querySelectorAll('#activity-list .task-head').forEach((each) => each.click())",
    );
    await look('activity');
    const undo = JSON.stringify(voiceOf(code).t('Undo'));
    await browser.until(`[...document.querySelectorAll('#activity-list button')].some((one) =>
      one.innerText.trim() === ${undo} && one.checkVisibility() && !one.disabled && (one.id = 'walk-undo'))`);
    await dialog('an undo', '#walk-undo');
    await goTo(browser, 'app/dnsmasq');
    await click(browser, '#app-buttons .danger-text');
    await shows('#plan-typed');
    await type(browser, '#plan-name', 'dnsmasq');
    await agree(browser);
    await shows('#notices [role=timer]');
    await look('a way back that counts');
  },
  120_000,
);
