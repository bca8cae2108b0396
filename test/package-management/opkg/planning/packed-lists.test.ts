import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlanBudget } from '../../../../src/package-management/opkg/planning/budget.ts';
import {
  parseRecord,
  RECORD_FIELDS,
  type PackageRecord,
} from '../../../../src/package-management/opkg/planning/package-records.ts';
import { readLists } from '../../../../src/package-management/opkg/planning/packed-lists.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-packed-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function recordsOf(list: string): Promise<PackageRecord[]> {
  await writeFile(join(folder, 'feed'), list);
  const settings = { feeds: [{ name: 'feed', url: '', isGzip: false }], listsDir: folder };
  const tools = { purpose: 'a test', budget: createPlanBudget('a test') };
  const records: PackageRecord[] = [];
  (await readLists(settings, tools)).find(
    () => true,
    (record) => records.push(record),
  );
  return records;
}

const blanks = fc.constantFrom('', ' ', '\t ', ' \r', '\v\f');
const names = fc.oneof(
  fc.constantFrom(...RECORD_FIELDS.map(([field]) => field)),
  fc.constantFrom('Description', 'Packages', 'package', 'Pre', 'Size ', 'SHA256sum', ''),
);
const values = fc.oneof(
  fc.constantFrom('', 'yes', '12', '-1', 'a, b (>= 1)', 'a:b', 'Größe', '包'),
  fc.string({ unit: 'grapheme-ascii', maxLength: 20 }).map((text) => text.trim()),
);
const lines = fc.oneof(
  fc
    .tuple(names, blanks, values, blanks)
    .map(([name, before, value, after]) => `${name}:${before}${value}${after}`),
  values.map((value) => ` ${value}.`),
  values.map((value) => `${value}.`),
);
const paragraphs = fc
  .array(lines, { maxLength: 8 })
  .map((some) => `Package: p\n${some.join('\n')}`);
const between = fc.constantFrom('\n\n', '\n\n\n', '\n \n', '\n\f\n', '\n\t\r\n\n');

test('of each paragraph of a list a plan knows what opkg reads of it, wherever pieces of it end', () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        drawn: fc.array(paragraphs, { minLength: 1, maxLength: 5 }),
        gap: between,
        end: fc.constantFrom('', '\n', '\n\n'),
        times: fc.constantFrom(1, 1, 1, 4000),
      }),
      async ({ drawn, gap, end, times }) => {
        const all = Array.from({ length: times }, () => drawn).flat();
        const expected = drawn
          .map((paragraph) => ({ ...parseRecord(paragraph), feed: 'feed' }))
          .filter(({ name }) => name !== '');

        const found = await recordsOf(all.join(gap) + end);

        expect(found).toHaveLength(expected.length * times);
        found.forEach((record, index) => {
          const wanted = expected[index % expected.length];
          if (index < 10 || JSON.stringify(record) !== JSON.stringify(wanted)) {
            expect(record).toEqual(wanted);
          }
        });
      },
    ),
    { seed: 1, numRuns: 150 },
  ));
