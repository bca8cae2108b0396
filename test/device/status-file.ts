export interface PackageRecord {
  version: string;
  /** What is wanted, the flags, and what is: the three words of the Status line. */
  want: string;
  flags: readonly string[];
  state: string;
  isAutoInstalled: boolean;
  isEssential: boolean;
  depends: readonly string[];
  /** Checksums by path. */
  conffiles: ReadonlyMap<string, string>;
  /** Unix seconds; 0 when it is not there. */
  installedAt: number;
}

/** Reads opkg's status file by other rules than the code under test does. */
export function parseStatusFile(text: string): Map<string, PackageRecord> {
  const stanzas = text.split(/\n\n+/).filter((stanza) => stanza !== '');
  return new Map(stanzas.map((stanza) => toRecord(stanza)));
}

function toRecord(stanza: string): [string, PackageRecord] {
  const field = (name: string): string =>
    new RegExp(`^${name}: (.*)$`, 'm').exec(stanza)?.[1] ?? '';
  const [want = '', flags = '', state = ''] = field('Status').split(' ');
  const conffiles = [...stanza.matchAll(/^ (\S+) (\S+)$/gm)].map(
    ([, path = '', sum = '']) => [path, sum] as const,
  );
  return [
    field('Package'),
    {
      version: field('Version'),
      want,
      flags: flags.split(','),
      state,
      isAutoInstalled: field('Auto-Installed') === 'yes',
      isEssential: field('Essential') === 'yes',
      depends: field('Depends')
        .split(', ')
        .filter((name) => name !== ''),
      conffiles: new Map(conffiles),
      installedAt: Number(field('Installed-Time')),
    },
  ];
}
