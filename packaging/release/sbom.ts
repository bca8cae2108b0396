import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cycloneDx, type Component } from '../../src/features/audit/cyclonedx.ts';
import type { NodeRuntime } from '../node-runtime.ts';
import { REPOSITORY, type Release } from '../packages.ts';
import type { BundledPackage } from '../third-party.mjs';

/** What is inside of a release: npm's packages in the programs, and each Node with its libraries. */
export function contentsOf(runtimes: readonly NodeRuntime[]): Component[] {
  const bundled = JSON.parse(
    readFileSync(join(REPOSITORY, 'dist/bundled-packages.json'), 'utf8'),
  ) as BundledPackage[];
  return [...bundled.map(npmComponent), ...runtimes.flatMap(nodeComponents)];
}

export function releaseSbom({ version, modifiedAt }: Release, contents: Component[]): string {
  const subject: Component = {
    type: 'application',
    name: 'depotd',
    version,
    purl: `pkg:generic/depotd@${version}`,
    licence: 'MIT',
  };
  return `${JSON.stringify(cycloneDx(subject, contents, modifiedAt), null, 2)}\n`;
}

/** One line each: name, version, licence. */
export function licenceList(contents: readonly Component[]): string {
  const lines = contents.map(
    ({ group, name, version, licence = '' }) =>
      `${[group, name].filter(Boolean).join('/')}\t${version}\t${licence}\n`,
  );
  return [...new Set(lines)].sort().join('');
}

function npmComponent({ name, version, licence, integrity }: BundledPackage): Component {
  const [last = '', scope] = name.split('/').reverse();
  const purlName = [scope, last].filter((part) => part !== undefined).map(encodeURIComponent);
  return {
    type: 'library',
    ...(scope === undefined ? {} : { group: scope }),
    name: last,
    version,
    purl: `pkg:npm/${purlName.join('/')}@${version}`,
    licence,
    hashes: [
      { alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') },
    ],
  };
}

/** GCC's libraries may be handed on with what is compiled by it. */
const LIBRARY_LICENCE = 'GPL-3.0-or-later WITH GCC-exception-3.1';

function nodeComponents({ version, machine, content, libraries }: NodeRuntime): Component[] {
  const hashes = (bytes: Buffer): NonNullable<Component['hashes']> => [
    { alg: 'SHA-256', content: createHash('sha256').update(bytes).digest('hex') },
  ];
  const on = `arch=${machine}`;
  return [
    {
      type: 'application',
      name: 'node',
      version,
      purl: `pkg:generic/node@${version}?${on}`,
      licence: 'MIT',
      hashes: hashes(content),
    },
    ...libraries.map(({ name, content: bytes }): Component => {
      const [, library = name, abi = ''] =
        /^(.*?)(?:-[0-9a-f]{8})?\.so\.([\d.]+)$/.exec(name) ?? [];
      const file = encodeURIComponent(name);
      return {
        type: 'library',
        name: library,
        version: abi,
        purl: `pkg:generic/${encodeURIComponent(library)}@${abi}?${on}&file_name=${file}`,
        licence: LIBRARY_LICENCE,
        hashes: hashes(bytes),
      };
    }),
  ];
}
