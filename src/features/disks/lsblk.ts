import * as v from 'valibot';
import { parseJson } from '../../device/durable-file.ts';
import type { Content } from './content-probe.ts';

/** `isWhole` marks a disk with partitions, which holds no file system itself. */
export interface ListedDevice extends Content {
  name: string;
  path: string;
  /** MAJOR:MINOR. */
  device: string;
  sizeBytes: number;
  isWhole: boolean;
}

/** RAM disks and devices without medium are left out by lsblk itself. */
export const LSBLK: [string, ...string[]] = [
  'lsblk',
  '--json',
  '--bytes',
  '--output',
  'NAME,KNAME,PATH,MAJ:MIN,TYPE,SIZE,FSTYPE,FSVER,LABEL,UUID',
];

const text = v.fallback(v.nullish(v.string(), ''), '');

/** Before util-linux 2.33 numbers come as texts. */
const entries = {
  kname: v.string(),
  path: text,
  'maj:min': text,
  size: v.pipe(v.fallback(v.nullish(v.union([v.number(), v.string()]), 0), 0), v.transform(Number)),
  fstype: text,
  fsver: text,
  label: text,
  uuid: text,
};
type Entries = v.InferOutput<v.ObjectSchema<typeof entries, undefined>>;
type Node = Entries & { children: Node[] };
const node: v.GenericSchema<unknown, Node> = v.object({
  ...entries,
  children: v.optional(v.array(v.lazy(() => node)), []),
});
const listing = v.object({ blockdevices: v.array(node) });

/** A volume stands below each member, and is listed once. @returns undefined for no listing */
export function parseLsblk(json: string): ListedDevice[] | undefined {
  // What an old lsblk prints about an option that it does not know is no JSON.
  const result = v.safeParse(listing, parseJson(json));
  if (!result.success) return undefined;
  const devices = new Map<string, ListedDevice>();
  const add = (one: Node): void => {
    devices.set(one.kname, {
      name: one.kname,
      path: one.path === '' ? `/dev/${one.kname}` : one.path,
      device: one['maj:min'].trim(),
      sizeBytes: one.size,
      type: one.fstype,
      version: one.fsver,
      label: one.label,
      uuid: one.uuid,
      isWhole: one.children.some((child) => isPartOf(child.kname, one.kname)),
    });
    one.children.forEach(add);
  };
  result.output.blockdevices.forEach(add);
  return [...devices.values()];
}

/** `sda1` of `sda`, `mmcblk0p2` of `mmcblk0`; not the `md0` or `dm-1` that is made of it. */
function isPartOf(name: string, disk: string): boolean {
  return name.startsWith(disk) && /^p?\d+$/.test(name.slice(disk.length));
}
