import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, expect, test } from 'vitest';

import type { TaskStatus } from '../../device/daemon.ts';
import { createIpk } from '../../device/ipk.ts';
import type { FeedPackage } from '../../device/feed-index.ts';
import { createRandom, type Random } from '../../support/random.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import { uploadFile, type UndoStatus } from './undo-tasks.ts';
import { treeOf, withoutMarks } from './undo-tree.ts';

/** Tasks that are drawn; a search by hand draws more: `UNDO_TASKS=200 OPKG=…`. */
const TASKS = Number(process.env.UNDO_TASKS ?? 12);
/** On a machine that is busy with others. */
const LIMIT_MS = 240_000;
const SEED = Number(process.env.UNDO_SEED ?? 28);

const sent = (version: string): FeedPackage => ({
  name: 'sent',
  version,
  architecture: 'all',
  fields: { Depends: 'libc, libdemo' },
  files: { '/usr/bin/sent': `sent ${version}\n`, '/etc/config/sent': `of sent ${version}\n` },
  conffiles: ['/etc/config/sent'],
  scripts: {
    postinst: '#!/bin/sh\necho made >"$IPKG_INSTROOT/etc/config/made-by-sent"\n',
    prerm: '#!/bin/sh\nexit 0\n',
  },
});

let store: Store;
/**
 * What the feed has: of a version that its list has, too, opkg fetches that one in an offline root.
 */
let published: 1 | 2 = 1;
afterEach(() => store.close());

/** What its owner changes, which no task does. */
async function edit(random: Random): Promise<void> {
  const { root } = store.device;
  const file = join(root, random.pick(['etc/config/demo-app', 'etc/config/sent']));
  if (random.below(3) !== 0 || (await readFile(file).catch(() => undefined)) === undefined) return;
  await writeFile(file, `of its owner ${random.below(100)}\n`);
}

function publish(version: 1 | 2): void {
  published = version;
  store.device.publish(version);
}

async function drawnTask(random: Random): Promise<string> {
  const names = ['demo', 'notes', 'demo-app', 'notes-app', 'libdemo', 'sent'] as const;
  const name = random.pick(names);
  const { daemon } = store;
  switch (random.below(7)) {
    case 0:
      return daemon.submit('remove', { package: name });
    case 1:
      return daemon.submit('upgrade', { package: name });
    case 2:
      publish(random.pick([1, 2]));
      return daemon.submit('update');
    case 3:
      return daemon.submit('upgrade', { all: 'true' });
    case 4:
      return uploadFile(
        daemon,
        createIpk(sent(random.pick(['1.0-1', '1.1-1', '2.0-1']))).bytes,
        'sent.ipk',
      );
    case 5:
      return daemon.submit('set_feed', { name: 'lab', enabled: String(random.below(2)) });
    default:
      return daemon.submit('install', { package: name });
  }
}

test(`each of ${TASKS} drawn tasks, undone, leaves all as it was, and again`, async () => {
  store = await openStore();
  const random = createRandom(SEED);
  const { device, daemon } = store;
  const undo = async (id: string): Promise<TaskStatus & { id: string }> => {
    const own = await daemon.submit('undo', { task_id: id });
    return { ...(await daemon.finished(own, LIMIT_MS)), id: own };
  };
  const seen: Record<string, number> = {};
  for (let task = 0; task < TASKS; task += 1) {
    await edit(random);
    const before = await treeOf(device.root);
    const former = published;
    const id = await drawnTask(random);
    const ended = (await daemon.finished(id, LIMIT_MS)) as UndoStatus;
    const what = `task ${task}: ${ended.command}`;
    seen[`${ended.kind} ${ended.state}`] = (seen[`${ended.kind} ${ended.state}`] ?? 0) + 1;
    if (ended.can_undo !== true) {
      publish(former);
      if (ended.state === 'done') {
        expect([what, ended.no_undo]).toEqual([what, 'It changed nothing.']);
      }
      continue;
    }
    const after = await treeOf(device.root);
    const later = published;
    publish(former);
    const undone = await undo(id);
    expect([what, undone.state, undone.error]).toEqual([what, 'done', undefined]);
    expect({ what, ...(await treeOf(device.root)) }).toEqual({ what, ...before });
    if (random.below(2) === 0) continue;
    publish(later);
    const again = await undo(undone.id);
    expect([what, again.state, again.error]).toEqual([what, 'done', undefined]);
    const redone = { what, ...withoutMarks(await treeOf(device.root)) };
    expect(redone).toEqual({ what, ...withoutMarks(after) });
  }
  if (process.env.UNDO_TASKS !== undefined) console.log(seen);
}, 1_500_000);
