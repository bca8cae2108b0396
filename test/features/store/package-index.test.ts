import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { IndexRow } from '../../../src/features/store/row.ts';
import {
  createIndexBuilder,
  findRow,
  readRow,
  type PackageIndex,
} from '../../../src/features/store/package-index.ts';
import { parseWords, rankRows } from '../../../src/features/store/search.ts';

function rowOf(row: Partial<IndexRow> & { name: string }): IndexRow {
  return {
    ...{ isApp: false, title: '', description: '', version: '1', tags: [], section: '', feed: '' },
    ...{ downloadBytes: 0, installedBytes: 0, time: 0 },
    ...row,
  };
}

function indexOf(rows: readonly IndexRow[]): PackageIndex {
  const builder = createIndexBuilder((a, b) => Number(a) - Number(b), 1);
  for (const row of rows) builder.add(row);
  return builder.finish();
}

const name = fc.stringMatching(/^[A-Ca-c][A-Ca-c.+_-]{0,5}$/);
const text = fc.oneof(
  fc.string({ maxLength: 40, unit: 'grapheme' }),
  fc.stringMatching(/^[A-C ÄöЖж大\n]{0,30}$/),
);
/** Capitals far from each other. */
const farCapitals = fc.array(fc.nat(520), { maxLength: 3 }).map((gaps) =>
  gaps
    .map((gap) => `${'x'.repeat(gap)}Q`)
    .join('')
    .slice(0, 800),
);
const row = fc.record({
  name,
  isApp: fc.boolean(),
  title: text,
  description: fc.oneof(text, farCapitals),
  version: fc.nat(9).map(String),
  tags: fc.array(fc.stringMatching(/^[a-z]{1,4}$/), { maxLength: 3 }),
  section: fc.constantFrom('', 'net', 'utils'),
  feed: fc.constantFrom('base', 'luci'),
  downloadBytes: fc.nat(),
  installedBytes: fc.nat(2 ** 32 - 1),
  time: fc.nat(),
});

/** What a text is kept as. */
const kept = (value: string): string => value.replaceAll('\0', ' ').normalize('NFC');

describe('an index', () => {
  test('gives back what was put into it, the newest version of each', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 30 }), (rows) => {
        const index = indexOf(rows);
        const best = new Map<string, IndexRow>();
        for (const source of rows) {
          const key = `${source.name} ${source.isApp}`;
          const known = best.get(key);
          if (known === undefined || Number(source.version) > Number(known.version)) {
            best.set(key, source);
          }
        }

        expect(index.count).toBe(best.size);
        for (const source of best.values()) {
          const at = findRow(index, source.name, source.isApp) ?? -1;
          expect(readRow(index, at)).toEqual({
            ...source,
            title: kept(source.title),
            description: kept(source.description),
          });
        }
      }),
    );
  });

  test('finds what a plain search finds', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 30 }), text, (rows, query) => {
        const index = indexOf(rows);
        const words = parseWords(query);
        const ranks = rankRows(index, words);
        for (let at = 0; at < index.count; at += 1) {
          const found = readRow(index, at);
          const fold = (value: string): string => value.normalize('NFC').toLowerCase();
          const texts = [found.name, found.title, found.description].map(fold);
          const isFound = words.every((word) =>
            texts.some((value) => value.includes(word.toString('utf8'))),
          );
          expect((ranks[at] ?? 0) > 0).toBe(isFound);
        }
      }),
    );
  });

  test('is bounded, whatever a feed sends', () => {
    const long = 'Ä'.repeat(4000);
    const index = indexOf(
      Array.from({ length: 60_000 }, (_, at) => rowOf({ name: `n${at}`, description: long })),
    );

    expect(index.count).toBeLessThan(50_001);
    expect(index.text.column.bytes.length).toBeLessThan(26 * 1024 ** 2);
    expect(index.text.originals.size).toBeLessThan(1100);
  });

  test('shows capitals as they were, and takes a bit of each byte for that', () => {
    const loud = 'ABC '.repeat(250);
    const index = indexOf(
      Array.from({ length: 3000 }, (_, at) => rowOf({ name: `n${at}`, description: loud })),
    );

    expect(8 * index.text.capitals.length).toBeLessThan(index.text.column.bytes.length + 8);
    const descriptions = Array.from({ length: 3000 }, (_, at) => readRow(index, at).description);
    expect(new Set(descriptions)).toEqual(new Set([loud]));
  });

  test('counts a size beyond 4 GiB as 4 GiB', () => {
    const index = indexOf([rowOf({ name: 'huge', downloadBytes: 2 ** 40, installedBytes: 1 })]);

    expect(readRow(index, 0)).toMatchObject({ downloadBytes: 2 ** 32 - 1, installedBytes: 1 });
  });
});
