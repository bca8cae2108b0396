import * as fc from 'fast-check';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { startDaemon } from '../../device/daemon.ts';
import { createDevice } from '../../device/device.ts';
import { drawnLists } from '../../features/packages/drawn-lists.ts';
import { ask } from '../../support/ask.ts';
import { property, type FuzzTarget } from '../target.ts';
import { evilLine } from './texts.ts';
import { NODE_FLAGS, watch } from './watch.ts';

const LIST_BYTES = 1024 ** 2;
const FIELDS = [
  ...['Package', 'Version', 'Architecture', 'Depends', 'Provides', 'Conflicts', 'Replaces'],
  ...['Filename', 'Size', 'Installed-Size', 'Section', 'Description', 'Title', 'Tags', 'Status'],
  ...['SHA256sum', 'MD5Sum', 'Maintainer', 'Homepage', 'License', 'Essential', 'Auto-Installed'],
];

/** A package of which each field may be what it should not. */
const evilPackages: fc.Arbitrary<string> = fc
  .record({
    name: fc.oneof({ arbitrary: fc.constantFrom('p0', 'p1', 'app-meta-p'), weight: 3 }, evilLine),
    fields: fc.array(fc.tuple(fc.constantFrom(...FIELDS), evilLine), { maxLength: 6 }),
  })
  .map(({ name, fields }) => {
    const lines = fields.map(([field, text]) => `${field}: ${text}\n`).join('');
    return `Package: ${name}\nVersion: 1\nArchitecture: all\nFilename: a.ipk\nSize: 1\n${lines}\n`;
  });

const READS = [
  ...['plan?operation=install&package=p0', 'plan?operation=upgrade&all=true', 'installed'],
  ...['available', 'available?kind=all&q=p', 'available?kind=all&per_page=200&sort=size'],
  ...['available?kind=all&page=9999', 'available?q=zz&tag=x', 'status?package=p0', 'feeds'],
  ...['details?package=p0', 'plan?operation=install&package=app-meta-p', 'updates'],
];
const SEARCHES = [
  ['search', 'p'],
  ['search', 'a', '--json'],
  ['info', 'p0'],
  ['info', 'p'],
];
const PLANS = [
  ['plan', 'install', 'p0'],
  ['plan', 'upgrade'],
  ['status', 'p0'],
];
const OTHERS = [['doctor'], ['list'], ['feeds']];
const COMMANDS = [...SEARCHES, ...PLANS, ...OTHERS];
/** A task shows what opkg prints, which takes its time over a long list. */
const TASK = ['install', 'p0'];

const evilLists = fc
  .array(evilPackages, { minLength: 1, maxLength: 30 })
  .map((all) => all.join(''));
const repeated = fc
  .tuple(evilLine, fc.integer({ min: 1, max: 20_000 }))
  .map(([text, count]) => text.repeat(count).slice(0, LIST_BYTES));

const cases = fc.oneof(
  {
    arbitrary: fc.record({
      list: fc.oneof(drawnLists(LIST_BYTES), evilLists, repeated),
      command: fc.constantFrom(...COMMANDS),
    }),
    weight: 8,
  },
  fc.record({ list: evilLists, command: fc.constant(TASK) }),
);

/** Whatever the list of a feed says, the daemon is bounded, answers others, and no terminal acts. */
export async function hostileFeeds(): Promise<FuzzTarget> {
  const device = await createDevice();
  await device.opkg('update');
  const daemon = await startDaemon(device, { nodeFlags: NODE_FLAGS });
  const other = watch(daemon);
  const target = property('hostile feeds', 6, {
    inputs: fc.tuple(
      cases,
      fc.uniqueArray(fc.constantFrom(...READS), { minLength: 1, maxLength: 3 }),
    ),
    check: ([{ list, command }, reads]) =>
      other.during(async () => {
        await writeFile(join(device.root, 'var/opkg-lists/lab'), gzipSync(list));
        for (const path of reads) {
          const { status, text } = await ask(`${daemon.url}${daemon.base}/admin/store/${path}`);
          if (status === 400 || (status >= 500 && status !== 503)) {
            return `${path} answered ${status}: ${text}`;
          }
        }
        return other.terminal(...command);
      }),
  });
  return {
    ...target,
    close: async () => {
      await daemon.close();
      await device.close();
    },
  };
}
