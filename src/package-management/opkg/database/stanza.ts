/** A paragraph of a control file: field names as they stand, continuation lines joined. */
export type Stanza = ReadonlyMap<string, string>;

/** The paragraphs of a control file, a status file or a package list (Debian policy, 5.1). */
export function* parseStanzas(text: string): Generator<Stanza> {
  for (const paragraph of splitParagraphs(text)) {
    const stanza = parseStanza(paragraph);
    if (stanza.size > 0) yield stanza;
  }
}

export function splitParagraphs(text: string): string[] {
  return text.split(/\n(?:[ \t]*\n)+/).filter((paragraph) => paragraph.trim() !== '');
}

export function parseStanza(paragraph: string): Stanza {
  const fields = new Map<string, string>();
  let current: string | undefined;
  for (const line of paragraph.split('\n')) {
    // Ten thousand paragraphs are read so: a pattern would double that.
    if (line.startsWith(' ') || line.startsWith('\t')) {
      if (current !== undefined) {
        fields.set(current, `${fields.get(current) ?? ''}\n${line.trim()}`);
      }
      continue;
    }
    const colon = line.indexOf(':');
    current = colon > 0 ? line.slice(0, colon) : undefined;
    if (current !== undefined) fields.set(current, line.slice(colon + 1).trim());
  }
  return fields;
}

/** `a (>= 1), b | c` → `[['a'], ['b', 'c']]`: names for each dependency, without versions. */
export function parseDepends(text: string | undefined): string[][] {
  return splitList(text).map((entry) => entry.split('|').map(nameOf).filter(Boolean));
}

/** `a, b (= 1)` → `['a', 'b']`. */
export function parseNames(text: string | undefined): string[] {
  return splitList(text).map(nameOf);
}

/** Entries between commas, without the blanks around them. */
export function splitList(text: string | undefined): string[] {
  if (text === undefined || text === '') return [];
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function nameOf(entry: string): string {
  return /^[^\s(]*/.exec(entry.trim())?.[0] ?? '';
}
