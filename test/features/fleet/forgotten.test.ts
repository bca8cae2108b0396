import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import type { ActionRecord } from '../../../src/features/fleet/records/action-record.ts';
import { openRecords } from '../../../src/features/fleet/records/action-records.ts';
import { createFleetDevice, ipk, moduleOf } from './fleet-device.ts';
import { createStandIn } from './stand-in.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Records go to make room; what they were of is not done again. */

const MOST_RECORDS = 200;
const keyOf = (name: string): string => createHash('sha256').update(name).digest('hex');
const recordOf = (id: string, more: Partial<ActionRecord> = {}): ActionRecord => ({
  key: keyOf(`${more.from ?? ''} ${id}`),
  from: 'a server',
  actionId: id,
  title: 'demo',
  createdAt: 1,
  number: 0,
  attempts: 1,
  isCancelAsked: false,
  isReported: true,
  unknownReports: 0,
  end: { result: 'success', message: 'done', at: 1 },
  ...more,
});

test('an action whose record has gone is not done again, and its server is told why', async () => {
  const server = await createStandIn();
  onTestFinished(() => server.close());
  const on = await createFleetDevice(server);
  onTestFinished(() => on.close());
  const publish = (name: string): Promise<string> => {
    const postinst = `#!/bin/sh\necho ${name} >> "$IPKG_INSTROOT/count"\n`;
    return server.publish([moduleOf(ipk(name, { scripts: { postinst } }))]);
  };
  const first = await server.assign(await publish('one'), on.id);
  const restore = server.snapshot();
  expect(await on.over(first)).toMatchObject({ status: 'finished' });
  await fillUp(join(on.device.root, 'etc/depotd/fleet/actions'), first);
  await on.daemon.kill('SIGKILL');
  await on.daemon.restart();
  expect(await on.over(await server.assign(await publish('two'), on.id))).toMatchObject({
    status: 'finished',
  });
  restore();

  const { status, messages } = await on.over(first);

  expect(status).toBe('error');
  expect(messages.join(' ')).toContain('it may have been done already');
  expect(await on.device.read('count')).toBe('one\ntwo\n');
});

/** Records of as many actions, between the first one and the next. */
async function fillUp(folder: string, first: string): Promise<void> {
  const [name = ''] = await readdir(folder);
  const { from } = JSON.parse(await readFile(join(folder, name), 'utf8')) as ActionRecord;
  for (let count = 1; count < MOST_RECORDS; count += 1) {
    const record = recordOf(first, { from, key: keyOf(String(count)), number: 1 + count });
    await writeFile(join(folder, `${record.key}.json`), JSON.stringify(record));
  }
}

test('ids count as numbers, for each server by itself, and are known to the next daemon', async () => {
  const folder = await temporaryFolder();
  const records = await openRecords(folder);
  for (let id = 1; id <= MOST_RECORDS + 10; id += 1) await records.add(recordOf(String(id)));

  for (const { forgottenUpTo } of [records, await openRecords(folder)]) {
    const upTo = (actionId: string, from = 'a server'): string | undefined =>
      forgottenUpTo({ from, actionId });
    expect(['1', '9', '10'].map((id) => upTo(id))).toEqual(['10', '10', '10']);
    expect(['11', '100', '9'.repeat(60), 'b7'].map((id) => upTo(id))).toEqual(
      Array(4).fill(undefined),
    );
    expect(upTo('1', 'another server')).toBeUndefined();
  }
});

test('ends that no server wants do not fill the flash, and what is open stays', async () => {
  const folder = await temporaryFolder();
  const records = await openRecords(folder);
  const open = recordOf('1', { end: undefined });
  await records.add(open);
  for (let id = 2; id <= 450; id += 1) {
    await records.add(recordOf(String(id), { isReported: false }));
  }

  expect(records.all()).toHaveLength(400);
  expect(records.find(open.key)).toBeDefined();
  expect((await readdir(folder)).length).toBe(401);
});
