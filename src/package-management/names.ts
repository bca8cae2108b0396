import * as v from 'valibot';

/** Safe in an argument vector behind `--`, in a path below a folder, and free of wildcards. */
const PACKAGE_NAME = /^[A-Za-z0-9][A-Za-z0-9.+_-]*$/;
const MOST_CHARACTERS = 128;
/** A package's name as a piece of a larger pattern, without lookaround. */
export const PACKAGE_NAME_PATTERN = `[A-Za-z0-9][A-Za-z0-9.+_-]{0,${MOST_CHARACTERS - 1}}`;

export const packageName = v.pipe(
  v.string(),
  v.maxLength(MOST_CHARACTERS, `at most ${MOST_CHARACTERS} characters are allowed`),
  v.regex(
    PACKAGE_NAME,
    'a package name is letters, digits and . + _ -, beginning with a letter or digit',
  ),
  v.brand('PackageName'),
);
export type PackageName = v.InferOutput<typeof packageName>;

/** The same as `packageName`: asked of ten thousand names, the schema takes ten times as long. */
export function isPackageName(text: string): text is PackageName {
  return text.length <= MOST_CHARACTERS && PACKAGE_NAME.test(text);
}

/** What a record has of a name: packages may be called as what every object has, like `valueOf`. */
export function ownValue<Value>(
  record: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** A record by names from outside: `v.record` leaves out `constructor` and `prototype`. */
export function byName<Value extends v.GenericSchema>(value: Value) {
  return v.pipe(
    v.custom<Record<string, v.InferInput<Value>>>(
      (input) => typeof input === 'object' && input !== null,
    ),
    v.transform((record) => Object.entries(record)),
    v.array(v.tuple([v.string(), value])),
    v.transform((entries): Record<string, v.InferOutput<Value>> => Object.fromEntries(entries)),
  );
}

/** The package with an app's meta file (https://github.com/linkease/openwrt-app-meta). */
export function metaPackageOf(app: string): string {
  return `${META_PREFIX}${app}`;
}

const META_PREFIX = 'app-meta-';

/** The package that this program comes in. */
export const OWN_PACKAGE = 'depotd';

/** The app that a package carries the meta file of, or the package itself. */
export function appOf(name: string): { name: string; isApp: boolean } {
  const isApp = name.startsWith(META_PREFIX) && name.length > META_PREFIX.length;
  return { name: isApp ? name.slice(META_PREFIX.length) : name, isApp };
}

const LUCI_APP_PREFIX = 'luci-app-';

/** What a package of a LuCI application is about: `transmission`; undefined for other packages. */
export function luciSubjectOf(name: string): string | undefined {
  const isOne = name.startsWith(LUCI_APP_PREFIX) && name.length > LUCI_APP_PREFIX.length;
  return isOne ? name.slice(LUCI_APP_PREFIX.length) : undefined;
}

/** How the names of LuCI's translations begin; the application and the language follow. */
export const TRANSLATION_PREFIX = 'luci-i18n-';

/** Packages that say what they need also in a list: those of apps. */
export function isOfApp(name: string): boolean {
  return appOf(name).isApp || luciSubjectOf(name) !== undefined;
}

/** Where iStore keeps a record of each file that was installed by it, which outlives it. */
export const ISTORE_RECORDS = '/usr/share/istore/run-records';

/** What all names in a package file may take in memory: fifty thousand files have less. */
const MOST_BYTES = 8 * 1024 ** 2;
/** Bytes of a text beside its characters. */
const TEXT_BYTES = 32;

/** Is told of each name that is kept of a package file. @throws an Error if they are too many */
export type NameBudget = (name: string) => void;

/** A small file may name millions of long names, which all would have to be kept. */
export function createNameBudget(): NameBudget {
  let left = MOST_BYTES;
  return (name) => {
    left -= TEXT_BYTES + name.length;
    if (left < 0) throw new Error('it names more files than any package has');
  };
}

/** Names for a message: `a, b and 3 more`. */
export function listNames(names: readonly string[], most: number): string {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${more}`;
}
