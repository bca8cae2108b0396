import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, test } from 'vitest';

import { createIpk } from '../../device/ipk.ts';
import type { FeedPackage } from '../../device/feed-index.ts';
import type { Random } from '../../support/random.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import { TASKS, undoDrawnTasks } from './drawn-undo.ts';
import { uploadFile } from './undo-tasks.ts';

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
  const { device, daemon } = store;
  const { root } = device;
  const drawing = { root, daemon, edit, draw: drawnTask, published: () => published, publish };
  await undoDrawnTasks(drawing);
}, 1_500_000);
