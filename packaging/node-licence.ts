import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Where the licence of a Node lies, from the folder of the binary on: in its releases (`bin/node`
 * and `LICENSE`), beside a binary that was taken out of one, in packages of Alpine and of Debian.
 */
const PATHS = [
  'LICENSE',
  '../LICENSE',
  '../share/licenses/nodejs/LICENSE',
  '../share/doc/nodejs/copyright',
];

/**
 * The licence of a Node, which is that of all it contains as well.
 * @param given a file to be read in place of those that lie near the binary
 * @returns undefined if none is found
 * @throws Error if the given one cannot be read, or is none of Node's
 */
export function findNodeLicence(binary: string, given: string | undefined): string | undefined {
  const folder = dirname(realpathSync(binary));
  const path = given ?? PATHS.map((place) => join(folder, place)).find(isNodes);
  if (path === undefined) return undefined;
  if (given !== undefined && !isNodes(given)) {
    throw new Error(`cannot use ${given}: it is not the licence of Node.js`);
  }
  return readFileSync(path, 'utf8');
}

/** depotd's own lies in many a folder, too. */
function isNodes(path: string): boolean {
  return existsSync(path) && /Node\.?js/i.test(readFileSync(path, 'utf8').slice(0, 20_000));
}

/** What goes into the package where there is no other text. */
export function statedLicence(version: string): string {
  return `Node.js ${version} comes under the MIT licence, and what it contains under licences of its own. All of them are in
https://raw.githubusercontent.com/nodejs/node/v${version}/LICENSE
`;
}
