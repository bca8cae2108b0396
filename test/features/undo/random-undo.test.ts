import { afterEach, test } from 'vitest';

import type { FeedPackage } from '../../device/feed-index.ts';
import { createIpk } from '../../device/ipk.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import { TASKS, undoDrawnTasks } from './drawn-undo.ts';

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
afterEach(() => store.close());

test(`each of ${TASKS} drawn tasks, undone, leaves all as it was, and again`, async () => {
  store = await openStore();
  await undoDrawnTasks({
    device: store.device,
    daemon: store.daemon,
    feed: 'lab',
    file: {
      name: 'sent.ipk',
      draw: (random) => createIpk(sent(random.pick(['1.0-1', '1.1-1', '2.0-1']))).bytes,
    },
  });
}, 1_500_000);
