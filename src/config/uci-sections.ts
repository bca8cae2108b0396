import { DepotError } from '../errors.ts';
import { saysSo, withNewSection } from './uci-edit.ts';
import { parseUciFile, type UciSection } from './uci-file.ts';

/* Sections made and removed in UCI files, every other line as it is. */

/** @throws DepotError internal if the file cannot be read as it is */
export function addUciSection(text: string, added: { name: string; type: string }): string {
  return checked(added.name, text, {
    result: withNewSection(text, added),
    meant: (sections) => [...sections, { ...added, options: [], line: 0 }],
  });
}

/** @throws DepotError internal if the file is written so that this cannot be done */
export function removeUciSection(text: string, name: string): string {
  const { sections } = parseUciFile(text);
  const gone = (section: UciSection): boolean => section.name === name;
  const lines = text.split('\n');
  const result = sections.reduceRight((rest, section, index) => {
    if (!gone(section)) return rest;
    const last = section.options.at(-1)?.line ?? section.line;
    let end = (sections[index + 1]?.line ?? lines.length + 1) - 1;
    // A comment ahead of the next section is that one's.
    while (end > last && /^\s*(#.*)?$/.test(lines[end - 1] ?? '')) end -= 1;
    return rest.toSpliced(section.line - 1, end - section.line + 1);
  }, lines);
  return checked(name, text, {
    result: result.join('\n'),
    meant: (all) => all.filter((section) => !gone(section)),
  });
}

/** @throws DepotError internal if the file is written so that this cannot be done */
export function removeUciOption(text: string, name: string, option: string): string {
  const isMeant = (section: UciSection): boolean => section.name === name;
  const gone = parseUciFile(text)
    .sections.filter(isMeant)
    .flatMap(({ options }) => options.filter((entry) => entry.name === option));
  const lines = new Set(gone.map(({ line }) => line));
  const result = text.split('\n').filter((_, index) => !lines.has(index + 1));
  return checked(`${name}.${option}`, text, {
    result: result.join('\n'),
    meant: (sections) =>
      sections.map((section) => ({
        ...section,
        options: section.options.filter(({ name: each }) => !isMeant(section) || each !== option),
      })),
  });
}

function checked(
  what: string,
  text: string,
  { result, meant }: { result: string; meant: (sections: UciSection[]) => UciSection[] },
): string {
  const before = parseUciFile(text);
  if (saysSo(result, before, meant(before.sections))) return result;
  throw new DepotError(
    'internal',
    `cannot change ${what}: its lines are written in a way that only an editor can change`,
  );
}
