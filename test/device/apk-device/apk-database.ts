export interface ApkRecord {
  version: string;
  architecture: string;
  /** `Q1` and the checksum that the package is known by. */
  identity: string;
  /** The letters behind `f:`: `f` for broken files, `s` for a failed script. */
  flags: string;
  depends: readonly string[];
  provides: readonly string[];
  /** Paths without a slash before them, in the order of the database. */
  files: readonly string[];
}

/** Reads apk's database by other rules than the code under test does. */
export function parseApkDatabase(text: string): Map<string, ApkRecord> {
  const stanzas = text.split(/\n\n+/).filter((stanza) => stanza.trim() !== '');
  return new Map(stanzas.map((stanza) => toRecord(stanza)));
}

function toRecord(stanza: string): [string, ApkRecord] {
  const field = (letter: string): string =>
    new RegExp(`^${letter}:(.*)$`, 'm').exec(stanza)?.[1] ?? '';
  const words = (letter: string): string[] =>
    field(letter)
      .split(' ')
      .filter((word) => word !== '');
  return [
    field('P'),
    {
      version: field('V'),
      architecture: field('A'),
      identity: field('C'),
      flags: field('f'),
      depends: words('D'),
      provides: words('p'),
      files: filesOf(stanza),
    },
  ];
}

function filesOf(stanza: string): string[] {
  let folder = '';
  return stanza.split('\n').flatMap((line) => {
    if (line.startsWith('F:')) folder = line.slice(2);
    if (!line.startsWith('R:')) return [];
    return [folder === '' ? line.slice(2) : `${folder}/${line.slice(2)}`];
  });
}
