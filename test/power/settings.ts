import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { INDEX_NAME } from '../device/apk-device/apk-index.ts';
import { createOwner } from '../support/owner.ts';
import { MANAGER, type PowerDaemon } from './device.ts';
import type { Kind } from './kinds.ts';
import { FEED_PORT, ROOT } from './locations.ts';

const NAME = 'power-feed';
/** opkg is told of a folder, apk of the index in it. */
const URL = `http://127.0.0.1:${FEED_PORT}/feed/other${MANAGER === 'opkg' ? '' : `/${INDEX_NAME}`}`;
const FILE =
  MANAGER === 'opkg' ? 'etc/opkg/customfeeds.conf' : 'etc/apk/repositories.d/customfeeds.list';

/** A feed is added, and removed where it is there. */
export const SETTINGS: Kind = {
  feed: 1,
  expected: {},
  job: async (daemon) => {
    const { feeds } = (await (await daemon.get('admin/store/feeds')).json()) as {
      feeds: { name: string; kind: string }[];
    };
    const own = feeds.find(({ kind }) => kind === 'custom');
    return own === undefined
      ? daemon.submit('add_feed', { name: NAME, url: URL })
      : daemon.submit('remove_feed', { name: own.name });
  },
  look: async (_, { state, isAgain }) => {
    const text = await readFile(join(ROOT, FILE), 'utf8').catch(() => '');
    if (!text.startsWith('# add your custom package feeds here\n')) {
      return [`the file of feeds is damaged: ${JSON.stringify(text)}`];
    }
    const isMissing = state === 'done' && !isAgain && !text.includes(URL);
    return isMissing ? ['the feed was added, and is not there'] : [];
  },
};

const SECRET = 'correct horse';

const mayLogIn = async (daemon: PowerDaemon): Promise<boolean> =>
  (await createOwner(daemon).tryPassword(SECRET)).status === 204;

/** The first password is set, by whoever can read the device's files. */
export const PASSWORD: Kind = {
  feed: 1,
  expected: {},
  set: ['main.auth=password'],
  isLocked: true,
  job: async (daemon) => {
    if (!(await mayLogIn(daemon))) await createOwner(daemon).setFirstPassword(SECRET);
    return '';
  },
  look: async (daemon, { state }) =>
    state !== 'done' || (await mayLogIn(daemon)) ? [] : ['the password was set, and is not known'],
};
