import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, test } from 'vitest';

import { createApk } from '../../device/apk-device/apk.ts';
import type { ApkFeedPackage } from '../../device/apk-device/apk-index.ts';
import {
  oneProgram,
  openApkStore,
  type ApkStore,
} from '../../package-management/apk/open-store.ts';
import { feedsOf } from '../feeds/feed-answer.ts';
import { TASKS, undoDrawnTasks } from './drawn-undo.ts';

const sent = (version: string): ApkFeedPackage =>
  oneProgram('sent', version, {
    depends: ['libdemo'],
    files: { '/etc/config/sent': `of sent ${version}\n` },
    scripts: { 'post-install': '#!/bin/sh\necho made >"$IPKG_INSTROOT/etc/config/made-by-sent"\n' },
  });

let store: ApkStore;
afterEach(() => store.close());

/** apk writes over what an earlier life of a package left, and takes it away with the package. */
async function tidy(): Promise<void> {
  const there = await store.packages();
  for (const name of ['demo-app', 'sent'].filter((each) => !(each in there))) {
    await rm(join(store.device.root, `etc/config/${name}.apk-new`), { force: true });
  }
}

test(`with apk each of ${TASKS} drawn tasks, undone, leaves all as it was, and again`, async () => {
  store = await openApkStore();
  const [feed] = (await feedsOf(store.daemon)).feeds;
  await undoDrawnTasks({
    device: store.device,
    daemon: store.daemon,
    feed: feed?.name ?? '',
    file: {
      name: 'sent.apk',
      draw: (random) => createApk(sent(random.pick(['1.0-r1', '1.1-r1', '2.0-r1']))).bytes,
    },
    tidy,
    // A version that was there and is uploaded may be another build of it.
    excuse: /^There is no copy of sent \S+\.$/,
  });
}, 1_500_000);
