import { expect, onTestFinished, test } from 'vitest';

import {
  createFleetDevice,
  ipk,
  moduleOf,
  type FleetDevice,
} from '../features/fleet/fleet-device.ts';
import { createStandIn, type StandIn } from '../features/fleet/stand-in.ts';
import type { Browser } from './browser.ts';
import { click, goTo, openPanel } from './open-panel.ts';
import { startPanel } from './start-panel.ts';

const CARD = "document.querySelector('#fleet')";
const TEXT = `${CARD}.textContent`;
const BUTTONS = `[...${CARD}.querySelectorAll('button')].filter((each) => each.checkVisibility()).map((each) => each.textContent.trim())`;

interface Opened {
  server: StandIn;
  on: FleetDevice;
  browser: Browser;
}

/** The page of a device whose owner is asked before what is not forced. */
async function openDevice(): Promise<Opened> {
  const server = await createStandIn();
  onTestFinished(() => server.close());
  const on = await createFleetDevice(server, { set: ['fleet.confirm=ask'] });
  onTestFinished(() => on.close());
  const browser = await openPanel(`${on.daemon.url}${on.daemon.base}/#device`);
  return { server, on, browser };
}

test('the owner sees the fleet server, asks it, agrees to what it wants, and switches it off and on', async () => {
  const { server, on, browser } = await openDevice();
  await browser.until(`${CARD}.checkVisibility()`);
  expect(await browser.evaluate(TEXT)).toContain(server.url);
  expect(await browser.evaluate(TEXT)).toContain(on.id);
  expect(await browser.evaluate(BUTTONS)).toEqual(['Ask now', 'Switch off']);

  const action = await server.assign(await server.publish([moduleOf(ipk('one'))]), on.id, {
    type: 'soft',
  });
  await on.until(action, (_, { action: shown }) => shown?.state === 'asking');
  await click(browser, '#fleet-poll');
  await browser.until(`${TEXT}.includes('Do you agree?')`);
  expect(await browser.evaluate(BUTTONS)).toEqual(['Agree', 'Decline', 'Ask now', 'Switch off']);
  expect((await on.device.database()).has('one')).toBe(false);
  await click(browser, '#fleet-agree');
  expect(await on.over(action)).toMatchObject({ status: 'finished' });
  await click(browser, '#fleet-poll');
  await browser.until(`${CARD}.querySelector('#fleet-action .chip')?.textContent === 'Done'`);
  await browser.until(`${CARD}.querySelector('#fleet-action a') !== null`);

  await click(browser, '#fleet-switch');
  await browser.until(`${CARD}.querySelector('#fleet-chip').textContent === 'Switched off'`);
  expect(await on.status()).toMatchObject({ is_on: false });
  expect(await browser.evaluate(BUTTONS)).toEqual(['Switch on']);
  await click(browser, '#fleet-switch');
  await browser.until(`${CARD}.querySelector('#fleet-chip').textContent === 'Switched on'`);
  expect(await on.status()).toMatchObject({ is_on: true });
  expect(browser.complaints).toEqual([]);
});

test('what the owner declines is not installed, and a server that fails is named with the reason', async () => {
  const { server, on, browser } = await openDevice();
  const action = await server.assign(await server.publish([moduleOf(ipk('one'))]), on.id, {
    type: 'soft',
  });
  await on.until(action, (_, { action: shown }) => shown?.state === 'asking');
  await goTo(browser, 'discover');
  await goTo(browser, 'device');

  await click(browser, '#fleet-decline');
  expect(await on.over(action)).toMatchObject({ status: 'error' });
  expect((await on.device.database()).has('one')).toBe(false);

  server.intercept = (_, response) => {
    response.writeHead(503).end();
    return true;
  };
  await click(browser, '#fleet-poll');
  await browser.until(
    `${CARD}.querySelector('#fleet-problem').textContent.startsWith('The last poll failed: ')`,
  );
});

test('a device that belongs to no fleet shows nothing of one', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/#device`);

  await browser.until("document.querySelectorAll('#feeds-list li').length > 0");
  await browser.until(
    "performance.getEntriesByType('resource').some(({ name }) => name.includes('admin/fleet/status'))",
  );
  expect(await browser.evaluate(`${CARD}.hidden`)).toBe(true);
});
