import * as fc from 'fast-check';
import { namesUpTo, paragraph } from './hostile-lists.ts';

/** What the packages of a group say of others in one field. */
interface DrawnField {
  field: string;
  /** Of a group's package, by its number. */
  text: (index: number) => string;
}

const FIELDS = ['Depends', 'Recommends', 'Suggests', 'Conflicts', 'Replaces', 'Provides'] as const;

const separators = fc.constantFrom(', ', ' | ', ',');
const counts = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 2000 }));

/** Meshes, chains in both directions, one name for all, and what is not there. */
const texts: fc.Arbitrary<DrawnField['text']> = fc.oneof(
  fc.tuple(counts, separators).map(([count, separator]) => {
    const names = namesUpTo(count, separator);
    return () => names;
  }),
  fc.constantFrom(
    (index: number) => `p${index + 1}`,
    (index: number) => `p${Math.max(0, index - 1)}`,
    (index: number) => `p${index * 2}, p${index * 2 + 1}`,
    (index: number) => `p${index}`,
    (index: number) => `p${index} (>> ${index}), nosuch${index}`,
  ),
  fc.constantFrom('libc', 'virtual', 'p0', 'nosuch').map((name) => () => name),
);

const fields: fc.Arbitrary<DrawnField[]> = fc.uniqueArray(
  fc.record({ field: fc.constantFrom(...FIELDS), text: texts }),
  { selector: ({ field }) => field, maxLength: 4 },
);

const groups = fc
  .record({
    count: fc.oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 12_000 })),
    fields,
    /** Names from the first or the last on, or one name in many versions. */
    names: fc.constantFrom('up', 'down', 'p0', 'libc'),
  })
  .map(({ count, fields: drawn, names }) => ({ count, drawn, names }));

/** Package lists of up to so many bytes, of groups that name each other. */
export function drawnLists(mostBytes: number): fc.Arbitrary<string> {
  return fc.array(groups, { minLength: 1, maxLength: 4 }).map((drawn) => {
    const paragraphs: string[] = [];
    let bytes = 0;
    for (const group of drawn) {
      for (let index = 0; index < group.count && bytes < mostBytes; index += 1) {
        const text = paragraphOf(group, index);
        bytes += text.length;
        if (bytes < mostBytes) paragraphs.push(text);
      }
    }
    return paragraphs.join('');
  });
}

function paragraphOf(
  { count, drawn, names }: { count: number; drawn: readonly DrawnField[]; names: string },
  index: number,
): string {
  const number = names === 'down' ? count - 1 - index : index;
  const isOneName = names === 'p0' || names === 'libc';
  const said = drawn.map(({ field, text }) => [field, text(number)] as const);
  const version = isOneName ? `${index}` : '1';
  const name = isOneName ? names : `p${number}`;
  return paragraph(name, { Version: version, ...Object.fromEntries(said) });
}
