import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Config } from '../../../src/config/config.ts';
import { createPaths } from '../../../src/device/paths.ts';
import { createConfigReader } from '../../../src/package-management/opkg/config.ts';
import { withoutDescriptors } from '../../support/without-descriptors.ts';

/** Reads opkg's settings for the first time when no descriptor is left, and prints what came. */
const [root = ''] = process.argv.slice(2);
await mkdir(join(root, 'etc'));
await writeFile(join(root, 'etc/opkg.conf'), 'option check_signature\n');
const main = { root, state_dir: '/s', log_dir: '/l', upload_dir: '/u' };
const read = createConfigReader({ ...createPaths({ main } as Config), isLive: true });
const checks = async (): Promise<boolean> => (await read()).checksSignatures;
const meanwhile = await withoutDescriptors(checks);
process.stdout.write(JSON.stringify({ meanwhile, after: await checks() }));
