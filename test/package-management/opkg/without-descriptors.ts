import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Config } from '../../../src/config/config.ts';
import { createPaths } from '../../../src/device/paths.ts';
import { createConfigReader } from '../../../src/package-management/opkg/opkg-config.ts';
import { createDatabaseReader } from '../../../src/package-management/opkg/database/status-file.ts';
import { withoutDescriptors } from '../../support/without-descriptors.ts';

/**
 * Reads opkg's settings for the first time, and a status file that changed, when no descriptor is
 * left, and prints what came of it.
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

const meanwhile = {
  settings: await withoutDescriptors(settings),
  status: await withoutDescriptors(status),
};
const after = { settings: await settings(), status: await status() };
process.stdout.write(JSON.stringify({ before, meanwhile, after }));
