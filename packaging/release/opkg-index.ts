import { createHash } from 'node:crypto';
import { controlText, type PackageContents } from '../ipk.ts';

export interface Ipk {
  fileName: string;
  bytes: Buffer;
  control: PackageContents['control'];
}

/** The list of an opkg feed: `Packages`, with the fields in the order of OpenWrt's builder. */
export function createOpkgIndex(packages: readonly Ipk[]): Buffer {
  const stanzas = [...packages]
    .sort((one, other) => (one.fileName < other.fileName ? -1 : 1))
    .map(({ fileName, bytes, control }) => {
      const { Description: description = '', ...fields } = control;
      return controlText({
        ...fields,
        Filename: fileName,
        Size: String(bytes.length),
        SHA256sum: createHash('sha256').update(bytes).digest('hex'),
        Description: description,
      });
    });
  return Buffer.from(stanzas.map((stanza) => `${stanza}\n`).join(''));
}
