import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Config } from '../../../src/config/config.ts';
import { createPaths } from '../../../src/device/paths.ts';
import { createConfigReader } from '../../../src/package-management/opkg/opkg-config.ts';
import { createDatabaseReader } from '../../../src/package-management/opkg/database/status-file.ts';
import { findOffers } from '../../../src/package-management/opkg/feeds/lists.ts';
import { faultInList } from '../../../src/package-management/opkg/feeds/lists-backup.ts';
import { withoutDescriptors } from '../../support/without-descriptors.ts';

/**
 * Reads opkg's settings for the first time, a status file that changed, and a feed's list, when no
 * descriptor is left, and prints what came of it.
 */
const [root = ''] = process.argv.slice(2);
await mkdir(join(root, 'etc'));
await writeFile(join(root, 'etc/opkg.conf'), 'option check_signature\n');
const main = { root, state_dir: '/s', log_dir: '/l', upload_dir: '/u' };
const config = createConfigReader({ ...createPaths({ main } as Config), isLive: true });
const settings = async (): Promise<boolean> => (await config()).checksSignatures;

const file = join(root, 'status');
const stanza = (name: string): string => `Package: ${name}\nStatus: install user installed\n\n`;
const reader = createDatabaseReader({
  statusFiles: () => Promise.resolve([file]),
  isLocked: () => Promise.resolve(false),
  hasControl: () => Promise.resolve(false),
});
const status = async (): Promise<string[]> => [...(await reader.read()).keys()];
await writeFile(file, stanza('one'));
const before = { status: await status() };
await writeFile(file, stanza('one') + stanza('two'));

const list = join(root, 'lists/lab');
await mkdir(join(root, 'lists'));
await writeFile(list, 'Package: one\nVersion: 2\nFilename: one.ipk\n\n');
const feeds = [{ name: 'lab', url: 'http://127.0.0.1', isGzip: false }];
const offers = async (): Promise<string[]> => {
  const known = { ...(await config()), listsDir: join(root, 'lists'), feeds };
  return [...(await findOffers(known, ['one'])).keys()];
};
const fault = async (): Promise<unknown> => (await faultInList(list)) ?? 'none';

const meanwhile = {
  settings: await withoutDescriptors(settings),
  status: await withoutDescriptors(status),
  offers: await withoutDescriptors(offers),
  fault: await withoutDescriptors(fault),
};
const after = {
  ...{ settings: await settings(), status: await status() },
  ...{ offers: await offers(), fault: await fault() },
};
process.stdout.write(JSON.stringify({ before, meanwhile, after }));
