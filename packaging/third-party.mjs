import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Licences of what may be bundled, by their SPDX names: all ask for no more than that their text and
 * the notices go with every copy. Another one is a decision to be made, so the build ends.
 */
export const ALLOWED_LICENCES = [
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Apache-2.0',
];

/**
 * The npm packages that esbuild bundled: those with at least a byte in an output.
 * @param metafiles of all builds, the deferred ones and those of the page included
 * @returns their folders below the repository, sorted
 * @throws Error that names a file which is neither ours nor in a package: nobody knows its licence
 */
export function bundledFolders(metafiles) {
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap((output) =>
      Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) =>
        bytesInOutput > 0 ? [path] : [],
      ),
    ),
  );
  const folders = inputs.filter((path) => !OWN.test(path)).map(folderOf);
  return [...new Set(folders)].sort();
}

/** Sources, and what the build makes up: `<stdin>`, or a name in a namespace of esbuild. */
const OWN = /^(?:src\/|<stdin>$|deferred:|unused:|later:|quick:|texts:)/;

function folderOf(path) {
  const folder = FOLDER.exec(path)?.[1];
  if (folder !== undefined) return folder;
  throw new Error(`cannot bundle ${path}: it is neither in src nor in a package of node_modules`);
}

/** Up to the last `node_modules/NAME` or `node_modules/@SCOPE/NAME`. */
const FOLDER = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/**
 * The licences and notices of packages, as one text: the same packages always give the same one.
 * @param root the repository
 * @throws Error that names a package whose licence is not allowed, or is not in it
 */
export function licencesOf(root, folders) {
  const packages = folders.map((folder) => readPackage(join(root, folder)));
  const first = new Map();
  const sections = packages.map(({ title, texts }) => {
    const shown = texts.map((text) => sharedOnce(text, title, first));
    return `${RULE}\n${title}\n${RULE}\n\n${shown.join('\n\n')}\n`;
  });
  return [
    'depotd contains the programs below, each under its own licence.\n',
    `${packages.map(({ title }) => title).join('\n')}\n`,
    ...sections,
  ].join('\n');
}

/**
 * The same packages as data: `npm run build` writes it, a release reads it.
 * @param lock the content of package-lock.json
 */
export function packagesOf(root, folders, lock) {
  return folders.map((folder) => {
    const about = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const { version, integrity } = lock.packages[folder] ?? {};
    if (version !== about.version) {
      throw new Error(`cannot bundle ${folder}: it is not what the lock file says`);
    }
    return { name: about.name, version, licence: licenceIn(about), integrity };
  });
}

const RULE = '='.repeat(80);

/** Where the words of MIT and ISC begin that are the same for all, behind whose they are. */
const SHARED = /^Permission (?:is hereby granted|to use, copy, modify)/m;

/**
 * What many packages say word for word stands under the first of them: it is half of all the text.
 * @param first by those words the title of that package
 */
function sharedOnce(text, title, first) {
  const at = text.search(SHARED);
  if (at === -1) return text;
  const words = text.slice(at).replace(/\s+/g, ' ').trim();
  const known = first.get(words);
  if (known === undefined) first.set(words, title);
  return known === undefined ? text : `${text.slice(0, at)}Permission as under ${known} above.`;
}

function readPackage(folder) {
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const name = `${about.name} ${about.version}`;
  const licence = licenceIn(about);
  if (!ALLOWED_LICENCES.includes(licence)) {
    throw new Error(
      `cannot bundle ${name}: its licence, ${licence}, is none of ${ALLOWED_LICENCES.join(', ')}`,
    );
  }
  const licences = textsIn(folder, LICENCE_FILE);
  if (licences.length === 0) {
    throw new Error(`cannot bundle ${name}: it comes without the text of its licence`);
  }
  const texts = [...licences, ...textsIn(folder, NOTICE_FILE)];
  const [other] = texts.flatMap((text) => OTHER_LICENCE.exec(text)?.[0].trim() ?? []);
  if (other !== undefined) {
    throw new Error(`cannot bundle ${name}: it names ${licence}, but has the text of the ${other}`);
  }
  return { title: `${name} (${licence})`, texts };
}

/** Those that are not empty. */
function textsIn(folder, pattern) {
  return readdirSync(folder)
    .sort()
    .filter((file) => pattern.test(file) && !PROGRAM_FILE.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').replace(/\r\n/g, '\n').trim())
    .filter((text) => text !== '');
}

const LICENCE_FILE = /^(?:licen[cs]e|copying)(?:[.-].*)?$/i;
/** Code that deals with licences has such names, too. */
const PROGRAM_FILE = /\.(?:[cm]?[jt]sx?|json)$/i;
/** The heading of a text that asks for more than the allowed ones do. */
const OTHER_LICENCE =
  /^[ \t]*(?:GNU (?:AFFERO |LESSER |LIBRARY )?GENERAL PUBLIC LICENSE|MOZILLA PUBLIC LICENSE)/im;
/** Apache License 2.0, section 4 (d). */
const NOTICE_FILE = /^notice(?:\..*)?$/i;

/**
 * @returns the SPDX name; old packages have a list of objects in `licenses`. Several names are told
 *   as one that no list has.
 */
export function licenceIn({ license, licenses = [] }) {
  const old = [licenses].flat().map((entry) => entry?.type ?? entry);
  const names = [license, ...old].filter((name) => typeof name === 'string' && name !== '');
  return [...new Set(names)].join(' and ') || 'none that is named';
}
