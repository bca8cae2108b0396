/** What a device's own blocks say. */
export interface Content {
  type: string;
  version: string;
  label: string;
  uuid: string;
}

/**
 * blkid's low-level probe, which needs no udev (blkid(8) of util-linux; busybox has another). Of
 * its forms only `udev` can be read back without loss: `export` writes what is not ASCII as `M-C`.
 */
export function blkidCommand(path: string): [string, ...string[]] {
  return ['blkid', '-p', '-o', 'udev', '--', path];
}

/**
 * `ID_FS_LABEL_ENC=my\x20disk`: one value a line; bytes that could do harm are written as `\xHH`.
 */
export function parseBlkid(output: string): Content {
  const values = new Map(
    Array.from(output.matchAll(/^(ID_FS_\w+)=(.*)$/gm), ([, name = '', value = '']) => [
      name,
      value,
    ]),
  );
  const value = (name: string): string =>
    decode(values.get(`ID_FS_${name}_ENC`) ?? '') || (values.get(`ID_FS_${name}`) ?? '');
  return {
    type: value('TYPE'),
    version: value('VERSION'),
    label: value('LABEL'),
    uuid: value('UUID'),
  };
}

function decode(encoded: string): string {
  return encoded.replace(/(?:\\x[0-9a-f]{2})+/g, (hex) =>
    Buffer.from(hex.replaceAll('\\x', ''), 'hex').toString('utf8'),
  );
}

/** OpenWrt's own prober (fstools), which tells of all devices at once. */
export const BLOCK_INFO: [string, ...string[]] = ['block', 'info'];

/**
 * `/dev/sda1: UUID="…" LABEL="data" VERSION="1.0" MOUNT="/mnt" TYPE="ext4"`, by device node.
 * Values are not escaped.
 */
export function parseBlockInfo(output: string): Map<string, Content> {
  const contents = new Map<string, Content>();
  for (const [, path = '', rest = ''] of output.matchAll(/^(\/dev\/[^:]+): (.*)$/gm)) {
    const values = new Map(
      Array.from(
        rest.matchAll(/([A-Z_]+)="(.*?)"(?= [A-Z_]+="|\s*$)/g),
        ([, name = '', value = '']) => [name, value],
      ),
    );
    contents.set(path, {
      type: values.get('TYPE') ?? '',
      version: values.get('VERSION') ?? '',
      label: values.get('LABEL') ?? '',
      uuid: values.get('UUID') ?? '',
    });
  }
  return contents;
}
