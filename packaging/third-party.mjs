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
 */
export function bundledFolders(metafiles) {
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap((output) =>
      Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) =>
        bytesInOutput > 0 ? [path] : [],
      ),
    ),
  );
  const folders = inputs.flatMap((path) => FOLDER.exec(path)?.[1] ?? []);
  return [...new Set(folders)].sort();
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
  const sections = packages.map(
    ({ title, texts }) => `${RULE}\n${title}\n${RULE}\n\n${texts.join('\n\n')}\n`,
  );
  return [
    'depotd contains the programs below, each under its own licence.\n',
    `${packages.map(({ title }) => title).join('\n')}\n`,
    ...sections,
  ].join('\n');
}

const RULE = '='.repeat(80);

function readPackage(folder) {
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const name = `${about.name} ${about.version}`;
  const licence = licenceIn(about);
  if (!ALLOWED_LICENCES.includes(licence)) {
    throw new Error(
      `cannot bundle ${name}: its licence, ${licence}, is none of ${ALLOWED_LICENCES.join(', ')}`,
    );
  }
  const files = readdirSync(folder).sort();
  if (!files.some((file) => LICENCE_FILE.test(file))) {
    throw new Error(`cannot bundle ${name}: it comes without the text of its licence`);
  }
  const texts = files
    .filter((file) => LICENCE_FILE.test(file) || NOTICE_FILE.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').replace(/\r\n/g, '\n').trim());
  return { title: `${name} (${licence})`, texts };
}

const LICENCE_FILE = /^(?:licen[cs]e|copying)(?:[.-].*)?$/i;
/** Apache License 2.0, section 4 (d). */
const NOTICE_FILE = /^notice(?:\..*)?$/i;

/** @returns the SPDX name; old packages have a list of objects in `licenses` */
export function licenceIn({ license, licenses }) {
  const [first] = licenses ?? [];
  return license ?? first?.type ?? 'none that is named';
}
