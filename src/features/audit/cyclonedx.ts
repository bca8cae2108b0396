import { createHash } from 'node:crypto';

/** What a list of CycloneDX says of one thing in it. */
export interface Component {
  type: 'application' | 'library' | 'operating-system' | 'device';
  /** Group in front of a component's name, as npm's `@scope`. */
  group?: string;
  name: string;
  version: string;
  description?: string;
  /** The address of a package in its own world (purl). Nothing else may have the same. */
  purl: string;
  /** An SPDX name or expression, or whatever else a package says. */
  licence?: string;
  hashes?: readonly { alg: 'SHA-256' | 'SHA-512'; content: string }[];
}

/**
 * A software bill of materials (CycloneDX 1.6): the same components always give the same one.
 * @param madeAt Unix seconds
 */
export function cycloneDx(subject: Component, components: readonly Component[], madeAt: number) {
  const sorted = components.toSorted((one, other) => (one.purl < other.purl ? -1 : 1));
  const described = sorted.map(describe);
  const text = JSON.stringify([subject, described, madeAt]);
  const digest = createHash('sha256').update(text).digest('hex');
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(digest)}`,
    version: 1,
    metadata: {
      timestamp: new Date(madeAt * 1000).toISOString().replace('.000Z', 'Z'),
      component: describe(subject),
    },
    components: described,
    dependencies: [{ ref: subject.purl, dependsOn: described.map(({ purl }) => purl) }],
  };
}

function describe({ licence, ...component }: Component): Component & { 'bom-ref': string } {
  return {
    'bom-ref': component.purl,
    ...component,
    ...(licence === undefined || licence === '' ? {} : { licenses: [licenceOf(licence)] }),
  };
}

/** Frequent ones of those that the schema knows; others go as they are. */
const SPDX = new Set(
  (
    '0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause GPL-2.0 GPL-2.0-only GPL-2.0-or-later GPL-3.0 ' +
    'GPL-3.0-only GPL-3.0-or-later ISC LGPL-2.1 LGPL-2.1-only LGPL-2.1-or-later MIT MPL-2.0 Zlib'
  ).split(' '),
);

function licenceOf(text: string): object {
  return { license: SPDX.has(text) ? { id: text } : { name: text } };
}

/** A UUID made of a digest (RFC 9562, version 8). */
function uuidOf(digest: string): string {
  const fields = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ];
  return fields.join('-');
}
