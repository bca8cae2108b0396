import { cutLine } from '../../listing.ts';
import { compareVersions } from '../compare-versions.ts';

/** One name that a field such as `Depends` wants, with the version it wants, if any. */
export interface Relation {
  name: string;
  /** `=`, `<` or `>`; empty if any version will do. */
  operator: '' | '=' | '<' | '>';
  version: string;
}

/** An entry of such a field. One of these is enough. */
export interface Dependency {
  /** `recommends` may stay unmet, `suggests` is only mentioned. */
  kind: 'depends' | 'recommends' | 'suggests';
  anyOf: readonly Relation[];
  /** As the field has it, for messages; cut. */
  text: string;
}

/** `a (>= 1), b | c` as opkg reads it: a name ends at the first blank. */
export function parseDependencies(
  text: string,
  kind: Dependency['kind'] = 'depends',
): Dependency[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => ({
      kind,
      text: cutLine(entry),
      anyOf: entry
        .split('|')
        .map(parseRelation)
        .filter((relation) => relation !== undefined),
    }));
}

const RELATION = /^\s*([^\s]+)(?:\s+\(\s*(<<|<=|>=|>>|=|<|>)?\s*([^)]*)\))?/;

function parseRelation(text: string): Relation | undefined {
  const [, name, operator = '', version = ''] = RELATION.exec(text) ?? [];
  if (name === undefined) return undefined;
  const sign = operator.slice(0, 1) as Relation['operator'];
  return { name, operator: sign, version: version.trim() };
}

export function namesIn(dependencies: readonly Dependency[]): string[] {
  return dependencies.flatMap(({ anyOf }) => anyOf.map(({ name }) => name));
}

/** Names of a field such as `Provides`, split at commas and blanks. */
export function parseNames(text: string): string[] {
  return text.split(/[,\s]+/).filter((name) => name !== '');
}

/** To opkg the version itself satisfies every operator, "earlier" and "later" too. */
export function isSatisfiedBy({ operator, version }: Relation, offered: string): boolean {
  if (operator === '') return true;
  const order = compareVersions(offered, version);
  return order === 0 || (operator === '<' && order < 0) || (operator === '>' && order > 0);
}
