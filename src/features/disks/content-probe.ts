/** What a device's own blocks say. Texts are empty if nothing is known. */
export interface Content {
  /** What it holds: `ext4`, `swap`, `linux_raid_member` … */
  type: string;
  /** Version of that format. */
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

/** `ID_FS_LABEL_ENC=my\x20disk`: one value a line; bytes that could do harm are `\xHH`. */
export function parseBlkid(output: string): Content {
  const values = valuesIn(output, /^ID_FS_(\w+)=(.*)$/gm);
  return contentFrom((name) => decode(values.get(`${name}_ENC`) ?? '') || values.get(name));
}

/** Values by name: the pattern's two groups, at each of its matches. */
function valuesIn(text: string, pattern: RegExp): Map<string, string> {
  return new Map(Array.from(text.matchAll(pattern), ([, name = '', value = '']) => [name, value]));
}

function contentFrom(value: (name: string) => string | undefined): Content {
  return {
    type: value('TYPE') ?? '',
    version: value('VERSION') ?? '',
    label: value('LABEL') ?? '',
    uuid: value('UUID') ?? '',
  };
}

function decode(encoded: string): string {
  return encoded.replace(/(?:\\x[0-9a-f]{2})+/g, (hex) =>
    Buffer.from(hex.replaceAll('\\x', ''), 'hex').toString('utf8'),
  );
}

/** OpenWrt's own prober (fstools), which tells of all devices at once. */
export const BLOCK_INFO: [string, ...string[]] = ['block', 'info'];

/** `/dev/sda1: UUID="…" LABEL="data" TYPE="ext4"`, by device node. Values are not escaped. */
export function parseBlockInfo(output: string): Map<string, Content> {
  const contents = [...valuesIn(output, /^(\/dev\/[^:]+): (.*)$/gm)].map(([path, rest]) => {
    const values = valuesIn(rest, /([A-Z_]+)="(.*?)"(?= [A-Z_]+="|\s*$)/g);
    return [path, contentFrom((name) => values.get(name))] as const;
  });
  return new Map(contents);
}
