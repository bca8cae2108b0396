import {
  countIn,
  cutEntries,
  cutLine,
  LISTING_LIMITS,
  type OfferedPackage,
  type PackageSummary,
} from '../../listing.ts';
import { isOfApp } from '../../names.ts';
import { parseDepends, parseNames, parseStanza, type Stanza } from '../database/stanza.ts';

/** `architecture` says whether it can be installed here. */
export type OpkgDescription = OfferedPackage & { architecture: string };
export type OpkgSummary = PackageSummary & { architecture: string };

/**
 * What a paragraph of a package list or a control file says of a package (Debian policy, section
 * 5.1; docs/reference/opkg.md).
 * @param feed empty for the device's own records
 */
export function describeParagraph(paragraph: string, feed = ''): OpkgDescription {
  const stanza = parseStanza(paragraph);
  const line = lineIn(stanza);
  return {
    ...summaryOf(stanza, feed),
    depends: dependsIn(stanza),
    provides: namesIn(stanza, 'Provides'),
    conflicts: namesIn(stanza, 'Conflicts'),
    isEssential: line('Essential') === 'yes',
    homepage: line('URL') || line('Homepage'),
    license: line('License'),
    maintainer: line('Maintainer'),
    sha256: line('SHA256sum') || undefined,
  };
}

export function summarizeParagraph(paragraph: string, feed: string): OpkgSummary {
  return summaryOf(parseStanza(paragraph), feed);
}

function summaryOf(stanza: Stanza, feed: string): OpkgSummary {
  const line = lineIn(stanza);
  const name = line('Package');
  return {
    feed,
    name,
    version: line('Version'),
    architecture: line('Architecture'),
    section: line('Section'),
    description: textOf(stanza.get('Description') ?? ''),
    tags: namesIn(stanza, 'Tags'),
    downloadBytes: countIn(line('Size')),
    installedBytes: countIn(line('Installed-Size')),
    depends: isOfApp(name) ? dependsIn(stanza) : [],
    time: countIn(line('SourceDateEpoch')),
  };
}

function lineIn(stanza: Stanza): (field: string) => string {
  return (field) => cutLine(stanza.get(field) ?? '');
}

function namesIn(stanza: Stanza, field: string): string[] {
  return cutEntries(parseNames(stanza.get(field)));
}

function dependsIn(stanza: Stanza): string[][] {
  return cutEntries(parseDepends(stanza.get('Depends')));
}

/** Of its lines one of a dot is empty (Debian policy, section 5.6.13). */
function textOf(field: string): string {
  return field.replace(/^\.$/gm, '').trim().slice(0, LISTING_LIMITS.descriptionCharacters);
}
