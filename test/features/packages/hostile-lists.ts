/** Package lists as a feed may send them to bring down who reads them. */

/** One paragraph of a list. */
export function paragraph(name: string, fields: Readonly<Record<string, string>> = {}): string {
  const { Version: version = '1', ...rest } = fields;
  const lines = Object.entries(rest).map(([field, value]) => `${field}: ${value}\n`);
  return (
    `Package: ${name}\nVersion: ${version}\nArchitecture: all\n${lines.join('')}` +
    `Filename: ${name}.ipk\nSize: 1\n\n`
  );
}

function many(count: number, make: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => make(index)).join('');
}

/** `p0, p1 …` */
export function namesUpTo(count: number, separator = ', '): string {
  return Array.from({ length: count }, (_, index) => `p${index}`).join(separator);
}

const all = (count: number): { Depends: string } => ({ Depends: namesUpTo(count) });

interface HostileList {
  list: () => string;
  /** Whether it is too large for a plan of p0, which each of them has; else there is a plan. */
  tooLarge: boolean;
}

const tooLarge = (list: () => string): HostileList => ({ list, tooLarge: true });
const fitting = (list: () => string): HostileList => ({ list, tooLarge: false });

export const HOSTILE_LISTS: Readonly<Record<string, HostileList>> = {
  'a mesh of 500': tooLarge(() => many(500, (index) => paragraph(`p${index}`, all(500)))),
  'a mesh of 500 that are all libc': tooLarge(() =>
    many(500, (index) => paragraph(`p${index}`, { ...all(500), Provides: 'libc' })),
  ),
  'a mesh of 500 that lacks something': tooLarge(() =>
    many(500, (index) => paragraph(`p${index}`, { Depends: `${namesUpTo(500)}, nosuch${index}` })),
  ),
  '3,000 that need and provide one name': tooLarge(() =>
    many(3000, (index) => paragraph(`p${index}`, { Depends: 'virtual', Provides: 'virtual' })),
  ),
  '200,000 plain packages': fitting(() => many(200_000, (index) => paragraph(`p${index}`))),
  'a chain of 60,000': tooLarge(() =>
    many(60_000, (index) => paragraph(`p${index}`, { Depends: `p${index + 1}` })),
  ),
  'a chain of 60,000 from its end': tooLarge(() =>
    many(60_000, (index) => paragraph(`p${59_999 - index}`, { Depends: `p${60_000 - index}` })),
  ),
  'a chain of 200 from its end': fitting(
    () =>
      paragraph('p200') +
      many(200, (index) => paragraph(`p${199 - index}`, { Depends: `p${200 - index}` })),
  ),
  'p0 in 200,000 versions': tooLarge(() =>
    many(200_000, (index) => paragraph('p0', { Version: `${index}` })),
  ),
  'libc in 200,000 versions': tooLarge(
    () =>
      many(200_000, (index) => paragraph('libc', { Version: `${index}` })) +
      paragraph('p0', { Depends: 'libc' }),
  ),
  'two that need 30,000': tooLarge(() =>
    many(2, (index) => paragraph(`p${index}`, { Depends: namesUpTo(30_000) })),
  ),
  'two that need any of 30,000': tooLarge(() =>
    many(2, (index) => paragraph(`p${index}`, { Depends: `p1, ${namesUpTo(30_000, ' | ')}` })),
  ),
  '1,000 that replace and exclude all': tooLarge(() =>
    many(1000, (index) =>
      paragraph(`p${index}`, {
        Conflicts: namesUpTo(1000),
        Replaces: namesUpTo(1000),
        Provides: namesUpTo(100),
      }),
    ),
  ),
};

const distinct = (count: number): string =>
  Array.from({ length: count }, (_, index) => `n${index.toString(36)}`).join(', ');
/** Each differs from the next at its end alone. */
const longVersion = (index: number): string => `${'1.'.repeat(500)}${index}`;

/** Of up to 1 MB, each of p0; whether they are too large for a plan is not said. */
export const DENSE_LISTS: Readonly<Record<string, () => string>> = {
  '40,000 names that one package needs': () => paragraph('p0', { Depends: distinct(40_000) }),
  '40,000 names that one package provides': () => paragraph('p0', { Provides: distinct(40_000) }),
  '40,000 names that one package excludes and replaces': () =>
    paragraph('p0', { Conflicts: distinct(20_000), Replaces: distinct(20_000) }),
  '40,000 names that one package needs and one provides': () =>
    paragraph('p0', { Depends: distinct(24_000) }) +
    paragraph('p1', { Provides: distinct(24_000) }),
  '100 packages that need 400 names each': () =>
    many(100, (index) =>
      paragraph(`p${index}`, {
        Depends: `p${index + 1}, ${distinct(400).replaceAll('n', `n${index}x`)}`,
      }),
    ),
  'p0 in 900 versions of 1,000 characters': () =>
    many(900, (index) => paragraph('p0', { Version: longVersion(index) })),
  '900 providers with versions of 1,000 characters': () =>
    paragraph('p0', { Depends: many(50, () => 'v, ') }) +
    many(900, (index) =>
      paragraph(`q${index % 9}`, { Version: longVersion(index), Provides: 'v' }),
    ),
  'a version wanted that is as long as can be': () =>
    paragraph('p0', { Depends: many(40, () => `p1 (>= ${longVersion(1).repeat(10)}), `) }) +
    many(300, (index) => paragraph('p1', { Version: `${longVersion(1)}${index}` })),
};
