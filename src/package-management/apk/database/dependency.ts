/** One dependency as apk writes it in world, `D:` and `p:` (apk-world(5)). */
export interface Dependency {
  name: string;
  /** `!name`: the package must not be there. */
  isConflict: boolean;
  /** Tag of a repository, behind `@`. */
  tag: string;
  /** Any of `<`, `>`, `=`, `~` in any order, `><` before a hash; empty for any version. */
  operator: string;
  version: string;
}

const DEPENDENCY = /^(!?)([^\s!<>=~@]+)(?:@([^\s<>=~]+))?(?:([<>=~]+)([^\s<>=~][^\s<>]*))?$/;

/** A power cut leaves zeros. */
const PRINTABLE = /^[!-~]+$/;

/** @returns undefined if apk would refuse it */
export function parseDependency(text: string): Dependency | undefined {
  const [, conflict = '', name, tag = '', operator = '', version = ''] =
    DEPENDENCY.exec(text) ?? [];
  return name === undefined || !PRINTABLE.test(text)
    ? undefined
    : { name, isConflict: conflict !== '', tag, operator, version };
}

/** The names in a list of dependencies, conflicts left out. */
export function namesIn(list: string): string[] {
  return list.split(' ').flatMap((text) => {
    const dependency = text === '' ? undefined : parseDependency(text);
    return dependency === undefined || dependency.isConflict ? [] : [dependency.name];
  });
}

/** Whether it keeps the package from being upgraded: to a version, a file, or below a version. */
export function isPin({ isConflict, operator, version }: Dependency): boolean {
  const isLowerBound = operator.includes('>') && !operator.includes('<');
  return !isConflict && version !== '' && operator !== '' && !isLowerBound;
}

/** Whether it is bound to one file by its hash. */
export function isHashPin({ isConflict, operator }: Dependency): boolean {
  return !isConflict && operator.includes('<') && operator.includes('>');
}
