import {
  countIn,
  cutEntries,
  cutLine,
  LISTING_LIMITS,
  type PackageDescription,
  type PackageSummary,
} from '../../listing.ts';
import { isOfApp } from '../../names.ts';
import { isEssential } from '../database/database.ts';
import { namesIn, parseDependency } from '../database/world.ts';
import type { JsonObject } from './json-objects.ts';

/** The fields that `apk query` is asked for. */
export const FIELDS =
  'name,version,arch,description,license,maintainer,url,build-time,installed-size,file-size,' +
  'depends,provides,repositories';
/** Fields for a list of everything: apk prints two thirds as much. */
export const SUMMARY_FIELDS =
  'name,version,arch,description,build-time,installed-size,file-size,depends,repositories';

export type QueriedPackage = ReturnType<typeof readQueried>;

/**
 * What `apk query --format json` prints of a package; keys without a value are left out. Checked by
 * hand: of ten thousand packages a schema takes longer than all else.
 */
export function readQueried(found: JsonObject) {
  return {
    name: textOf(found.name),
    version: textOf(found.version),
    arch: textOf(found.arch) || 'noarch',
    description: textOf(found.description),
    license: textOf(found.license),
    maintainer: textOf(found.maintainer),
    url: textOf(found.url),
    time: numberOf(found['build-time']),
    installedBytes: numberOf(found['installed-size']),
    downloadBytes: numberOf(found['file-size']),
    depends: textsOf(found.depends),
    provides: textsOf(found.provides),
    /** URLs of the feeds that offer it. */
    repositories: textsOf(found.repositories),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function textsOf(value: unknown): readonly string[] {
  const isTexts = Array.isArray(value) && value.every((entry) => typeof entry === 'string');
  return isTexts ? value : [];
}

function numberOf(value: unknown): number {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : 0;
}

/** What a list shows of it, whatever feed offers it. */
export function summaryOf(found: QueriedPackage): Omit<PackageSummary, 'feed'> {
  const { name, downloadBytes, installedBytes, time } = found;
  return {
    name,
    version: cutLine(found.version),
    section: '',
    description: found.description.trim().slice(0, LISTING_LIMITS.descriptionCharacters),
    tags: [],
    downloadBytes,
    installedBytes,
    depends: isOfApp(name) ? relations(name, found.depends, []).depends : [],
    time,
  };
}

export function describeOffer(found: QueriedPackage): PackageDescription {
  return {
    ...summaryOf(found),
    homepage: cutLine(found.url),
    license: cutLine(found.license),
    maintainer: cutLine(found.maintainer),
    ...relations(found.name, found.depends, found.provides),
  };
}

/** Describes an installed package by apk's record, whose fields are letters. */
export function describeRecord(fields: ReadonlyMap<string, string>): PackageDescription {
  const field = (letter: string): string => fields.get(letter) ?? '';
  return describeOffer({
    name: field('P'),
    version: field('V'),
    arch: field('A'),
    description: field('T'),
    license: field('L'),
    maintainer: field('m'),
    url: field('U'),
    time: countIn(field('t')),
    installedBytes: countIn(field('I')),
    downloadBytes: countIn(field('S')),
    depends: field('D').split(' '),
    provides: field('p').split(' '),
    repositories: [],
  });
}

/** apk has no sections and no tags, and puts conflicts among the dependencies, behind a `!`. */
function relations(name: string, depends: readonly string[], provides: readonly string[]) {
  const parsed = cutEntries([...depends]).flatMap((entry) => parseDependency(entry) ?? []);
  return {
    depends: parsed.filter(({ isConflict }) => !isConflict).map((entry) => [entry.name]),
    conflicts: parsed.filter(({ isConflict }) => isConflict).map((entry) => entry.name),
    provides: cutEntries([...provides]).flatMap(namesIn),
    isEssential: isEssential(name),
  };
}
