import {
  countIn,
  cutEntries,
  cutLine,
  LISTING_LIMITS,
  type OfferedPackage,
} from '../../listing.ts';
import { parseDepends, parseNames } from '../database/stanza.ts';

/**
 * What a paragraph of a package list or a control file says of a package (Debian policy, section
 * 5.1; docs/reference/opkg.md). Read when it is asked for: of ten thousand paragraphs most people
 * want to know three fields.
 * @param feed empty for the device's own records
 */
export function describeParagraph(paragraph: string, feed = ''): OpkgDescription {
  const line = (field: string): string => cutLine(fieldIn(paragraph, field));
  const names = (field: string): string[] => cutEntries(parseNames(fieldIn(paragraph, field)));
  return {
    feed,
    name: line('Package'),
    version: line('Version'),
    architecture: line('Architecture'),
    section: line('Section'),
    get description() {
      return textOf(fieldIn(paragraph, 'Description'));
    },
    get tags() {
      return names('Tags');
    },
    get downloadBytes() {
      return countIn(line('Size'));
    },
    get installedBytes() {
      return countIn(line('Installed-Size'));
    },
    get depends() {
      return cutEntries(parseDepends(fieldIn(paragraph, 'Depends')));
    },
    get provides() {
      return names('Provides');
    },
    get conflicts() {
      return names('Conflicts');
    },
    get isEssential() {
      return line('Essential') === 'yes';
    },
    get homepage() {
      return line('URL') || line('Homepage');
    },
    get license() {
      return line('License');
    },
    get maintainer() {
      return line('Maintainer');
    },
    get sha256() {
      return line('SHA256sum') || undefined;
    },
    get time() {
      return countIn(line('SourceDateEpoch'));
    },
  };
}

export type OpkgDescription = OfferedPackage & { architecture: string };

/** A field's text with its continuation lines; empty if there is none of that name. */
function fieldIn(paragraph: string, name: string): string {
  const from = startOf(paragraph, `${name}:`);
  if (from === -1) return '';
  let end = paragraph.indexOf('\n', from);
  while (end !== -1 && /[ \t]/.test(paragraph.charAt(end + 1))) {
    end = paragraph.indexOf('\n', end + 1);
  }
  return paragraph.slice(from, end === -1 ? undefined : end).trim();
}

function startOf(paragraph: string, label: string): number {
  if (paragraph.startsWith(label)) return label.length;
  const found = paragraph.indexOf(`\n${label}`);
  return found === -1 ? -1 : found + 1 + label.length;
}

/** Continuation lines are indented; one of a dot is empty (Debian policy, section 5.6.13). */
export function textOf(field: string): string {
  const text = field.slice(0, 2 * LISTING_LIMITS.descriptionCharacters);
  // As most are.
  if (!text.includes('\n') && text !== '.') return cutText(text.trim());
  return cutText(
    text
      .split('\n')
      .map((line) => line.trim())
      .map((line) => (line === '.' ? '' : line))
      .join('\n'),
  );
}

function cutText(text: string): string {
  return text.slice(0, LISTING_LIMITS.descriptionCharacters);
}
