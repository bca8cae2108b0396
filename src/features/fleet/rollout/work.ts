import * as v from 'valibot';
import { packageName } from '../../../package-management/names.ts';

/** What one distribution set is to do with the device, as it was read and checked. */
export type Work = v.InferOutput<typeof workSchema>;
export type WorkFile = v.InferOutput<typeof fileSchema>;

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

/** A file to be downloaded. */
const downloadSchema = v.object({
  /** Names the file in depotd's own folder, too. */
  sha256,
  bytes: v.number(),
  /** How the server calls it, fit to be shown. */
  label: v.string(),
  /** How its name ends in depotd's own folder: package managers go by that. */
  ending: v.pipe(v.string(), v.regex(/^[a-z]{1,8}$/)),
});
export type WantedFile = v.InferOutput<typeof downloadSchema>;

const fileSchema = v.object({
  ...downloadSchema.entries,
  kind: v.picklist(['package', 'program', 'firmware']),
  /** Signature of the content (usign), if one came with it. */
  signature: v.optional(sha256),
});

export const verification = v.pipe(
  v.strictObject({
    http: v.optional(v.pipe(v.string(), v.maxLength(1024), v.regex(/^https?:\/\//), v.url())),
    command: v.optional(
      v.pipe(
        v.array(v.pipe(v.string(), v.maxLength(1024), v.regex(/^[^\0]*$/))),
        v.minLength(1),
        v.maxLength(50),
      ),
    ),
    seconds: v.optional(v.pipe(v.number(), v.minValue(1), v.maxValue(600)), 30),
  }),
  v.check(
    ({ http, command }) => (http === undefined) !== (command === undefined),
    'http or command',
  ),
);

/** How a firmware image is installed. */
export const firmwarePlan = v.strictObject({
  /** DISTRIB_RELEASE or DISTRIB_REVISION of the firmware. */
  version: v.pipe(v.string(), v.regex(/^[\w.~+-]{1,64}$/)),
  keep_settings: v.optional(v.boolean(), true),
});

/** What an operator may ask to see of a device. */
export const collected = v.picklist(['log', 'doctor', 'jobs', 'status']);
export type Collected = v.InferOutput<typeof collected>;

const names = v.array(packageName);

export const workSchema = v.object({
  /** What people read of it. */
  title: v.string(),
  files: v.array(fileSchema),
  /** Files that hold signatures. */
  signatures: v.array(downloadSchema),
  install: names,
  upgrade: names,
  remove: names,
  /** By `CONFIG.SECTION.OPTION`, and `CONFIG.SECTION` with its type; null: removed. */
  settings: v.record(v.string(), v.nullable(v.string())),
  /** Names of settings whose values have variables. */
  templates: v.optional(v.array(v.string()), []),
  selfUpgrade: v.boolean(),
  firmware: v.optional(firmwarePlan),
  /** What has to be so at the end, tried for so many seconds. */
  verify: v.optional(v.array(verification), []),
  /** Whether what the device stands on may be removed; records of older actions say nothing. */
  isOfSystem: v.optional(v.boolean(), false),
  /** What is sent with its end. */
  collect: v.optional(v.array(collected), []),
  /** Whether the device restarts when all of it is done. */
  reboot: v.optional(v.boolean(), false),
  /** The device's new token; of a task and of what is over only that there is one: empty. */
  token: v.optional(v.string()),
  /** Time that it may take, in seconds; default: the device's own. */
  limitS: v.optional(v.number()),
});

/** All that is to be downloaded. */
export function downloadsOf({ files, signatures }: Work): WantedFile[] {
  return [...files, ...signatures];
}

/** Whether it changes nothing, and so waits for no other task. */
export function isLookOnly(work: Work): boolean {
  const { files, install, upgrade, remove, settings, verify, selfUpgrade, reboot, token } = work;
  const lists = [files, install, upgrade, remove, Object.keys(settings), verify];
  return (
    lists.every(({ length }) => length === 0) && !selfUpgrade && !reboot && token === undefined
  );
}
