import * as v from 'valibot';
import {
  countIn,
  cutEntries,
  cutLine,
  LISTING_LIMITS,
  type OfferedPackage,
  type PackageDescription,
  type PackageSummary,
} from '../../listing.ts';
import { isOfApp } from '../../names.ts';
import { isEssential } from '../database/database.ts';
import { namesIn, parseDependency } from '../database/dependency.ts';

/** The fields that `apk query` is asked for. */
export const FIELDS =
  'name,version,arch,description,license,maintainer,url,build-time,installed-size,file-size,' +
  'depends,provides,repositories';
/** The same for a list of everything: apk prints two thirds of it. */
export const SUMMARY_FIELDS =
  'name,version,arch,description,build-time,installed-size,file-size,depends,repositories';

const text = v.optional(v.string(), '');
const number = v.fallback(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 0);
const texts = v.optional(v.array(v.string()), []);

/** One package of what `apk query --format json` prints; keys without a value are left out. */
export const queriedPackage = v.object({
  name: v.string(),
  version: v.string(),
  arch: v.optional(v.string(), 'noarch'),
  description: text,
  license: text,
  maintainer: text,
  url: text,
  'build-time': number,
  'installed-size': number,
  'file-size': number,
  depends: texts,
  provides: texts,
  repositories: texts,
});

/** What lists show of a package, whatever feeds offer it. */
export interface QueriedSummary {
  arch: string;
  /** URLs of the feeds. */
  repositories: readonly string[];
  summary: Omit<PackageSummary, 'feed'>;
}

/**
 * One package of what `apk query` prints of `SUMMARY_FIELDS`. Checked by hand: of ten thousand
 * packages a schema takes longer than all else.
 */
export function readSummary(object: unknown): QueriedSummary {
  const found: Partial<Record<string, unknown>> = isObject(object) ? object : {};
  const name = textOf(found.name);
  return {
    arch: textOf(found.arch) || 'noarch',
    repositories: textsOf(found.repositories),
    summary: {
      name,
      version: cutLine(textOf(found.version)),
      section: '',
      description: cutText(textOf(found.description)),
      tags: [],
      downloadBytes: numberOf(found['file-size']),
      installedBytes: numberOf(found['installed-size']),
      depends: isOfApp(name) ? relations(name, textsOf(found.depends), []).depends : [],
      time: numberOf(found['build-time']),
    },
  };
}

function isObject(value: unknown): value is Partial<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
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

export function describeOffer(
  found: v.InferOutput<typeof queriedPackage>,
  feed: string,
): OfferedPackage {
  return {
    feed,
    name: found.name,
    version: cutLine(found.version),
    description: cutText(found.description),
    downloadBytes: found['file-size'],
    installedBytes: found['installed-size'],
    homepage: cutLine(found.url),
    license: cutLine(found.license),
    maintainer: cutLine(found.maintainer),
    time: found['build-time'],
    ...relations(found.name, found.depends, found.provides),
  };
}

/** The same of apk's record of what is installed, by the letters of its fields. */
export function describeRecord(fields: ReadonlyMap<string, string>): PackageDescription {
  const field = (letter: string): string => fields.get(letter) ?? '';
  const name = field('P');
  return {
    name,
    version: cutLine(field('V')),
    description: cutText(field('T')),
    downloadBytes: countIn(field('S')),
    installedBytes: countIn(field('I')),
    homepage: cutLine(field('U')),
    license: cutLine(field('L')),
    maintainer: cutLine(field('m')),
    time: countIn(field('t')),
    ...relations(name, field('D').split(' '), field('p').split(' ')),
  };
}

function cutText(description: string): string {
  return description.trim().slice(0, LISTING_LIMITS.descriptionCharacters);
}

/** apk has no sections and no tags, and puts conflicts among the dependencies, behind a `!`. */
function relations(
  name: string,
  depends: readonly string[],
  provides: readonly string[],
): Pick<
  PackageDescription,
  'section' | 'tags' | 'depends' | 'provides' | 'conflicts' | 'isEssential'
> {
  const parsed = cutEntries([...depends]).flatMap((entry) => parseDependency(entry) ?? []);
  return {
    section: '',
    tags: [],
    depends: parsed.filter(({ isConflict }) => !isConflict).map((entry) => [entry.name]),
    conflicts: parsed.filter(({ isConflict }) => isConflict).map((entry) => entry.name),
    provides: cutEntries([...provides]).flatMap(namesIn),
    isEssential: isEssential(name),
  };
}
