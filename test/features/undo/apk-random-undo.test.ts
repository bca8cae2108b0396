import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, test } from 'vitest';

import { createApk } from '../../device/apk-device/apk.ts';
import type { ApkFeedPackage } from '../../device/apk-device/apk-index.ts';
import {
  oneProgram,
  openApkStore,
  type ApkStore,
} from '../../package-management/apk/open-store.ts';
import type { Random } from '../../support/random.ts';
import { feedsOf } from '../feeds/feed-answer.ts';
import { TASKS, undoDrawnTasks } from './drawn-undo.ts';
import { uploadFile } from './undo-tasks.ts';

const sent = (version: string): ApkFeedPackage =>
  oneProgram('sent', version, {
    depends: ['libdemo'],
    files: { '/etc/config/sent': `of sent ${version}\n` },
    scripts: { 'post-install': '#!/bin/sh\necho made >"$IPKG_INSTROOT/etc/config/made-by-sent"\n' },
  });

let store: ApkStore;
let published: 1 | 2 = 1;
afterEach(() => store.close());

async function edit(random: Random): Promise<void> {
  const { root } = store.device;
  // apk writes over what an earlier life of a package left, and takes it away with the package.
  const there = await store.packages();
  for (const name of ['demo-app', 'sent'].filter((each) => !(each in there))) {
    await rm(join(root, `etc/config/${name}.apk-new`), { force: true });
  }
  const file = join(root, random.pick(['etc/config/demo-app', 'etc/config/sent']));
  if (random.below(3) !== 0 || (await readFile(file).catch(() => undefined)) === undefined) return;
  await writeFile(file, `of its owner ${random.below(100)}\n`);
}

function publish(version: 1 | 2): void {
  published = version;
  store.device.publish(version);
}

async function drawnTask(random: Random): Promise<string> {
  const name = random.pick(['demo', 'notes', 'demo-app', 'notes-app', 'libdemo', 'sent']);
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
        createApk(sent(random.pick(['1.0-r1', '1.1-r1', '2.0-r1']))).bytes,
        'sent.apk',
      );
    case 5: {
      const [feed] = (await feedsOf(daemon)).feeds;
      return daemon.submit('set_feed', {
        name: feed?.name ?? '',
        enabled: String(random.below(2)),
      });
    }
    default:
      return daemon.submit('install', { package: name });
  }
}

test(`with apk each of ${TASKS} drawn tasks, undone, leaves all as it was, and again`, async () => {
  store = await openApkStore();
  const { device, daemon } = store;
  const { root } = device;
  const drawing = { root, daemon, edit, draw: drawnTask, published: () => published, publish };
  await undoDrawnTasks(drawing);
}, 1_500_000);
