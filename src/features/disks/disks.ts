import { istoreSizeText } from '../../format-bytes.ts';
import { reasonOf } from '../../errors.ts';
import { readSpace } from '../../device/disk/space.ts';
import type { BlockDevice, BlockDeviceHost } from './block-devices.ts';
import type { DiskItem, DiskWithSpace } from './documentation.ts';
import type { Log } from '../../log.ts';

/**
 * The block devices, ready in memory. Invariants:
 *  - an answer is given again only while the kernel's tables are those it was made under and nobody
 *    has written to a device since; else the asker waits for a new one;
 *  - one listing runs at a time, and one that began before a change never stands for one after it;
 *  - what no table tells (a label set through a mounted file system) is seen 30 s later at most, by
 *    whoever asks then.
 */
export type Disks = ReturnType<typeof createDisks>;

/** How full a device is; nothing for one that is not mounted, or does not answer. */
type Space = Omit<DiskWithSpace, keyof DiskItem | 'mounts'>;

interface Answer {
  fingerprint: string;
  items: Record<string, DiskItem>;
  /** Mounts of each disk, by its kernel name. */
  mounts: ReadonlyMap<string, Pick<BlockDevice, 'mounts' | 'seenAt'>>;
  madeAt: number;
}

const OLD_MS = 30_000;
/** While somebody asks now and then, a change is looked for so often without being asked. */
const CHECK_MS = 2000;
const ASKED_LATELY_MS = 60_000;

export function createDisks({ host, log }: { host: BlockDeviceHost; log: Log }) {
  let answer: Answer | undefined;
  let making: Promise<Answer> | undefined;
  let isWritten = false;
  let askedAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopWatching: () => void = () => undefined;

  const make = async (): Promise<Answer> => {
    isWritten = false;
    stopWatching();
    const fingerprint = await host.fingerprint();
    // The watch stands before the look, so that no write falls between the two.
    stopWatching = await host.onceWritten(() => (isWritten = true));
    const devices = await host.list();
    const mounts = new Map(devices.map((device) => [device.name, device]));
    answer = { fingerprint, items: itemsOf(devices), mounts, madeAt: performance.now() };
    return answer;
  };
  const renew = (): Promise<Answer> =>
    (making ??= make()
      .catch((error: unknown) => {
        // The write that it was to show is not in the last answer, either.
        isWritten = true;
        throw error;
      })
      .finally(() => (making = undefined)));
  const warn = (error: unknown): void =>
    log.warn({ reason: reasonOf(error) }, 'block devices not read');

  /** A new answer if the last one no longer holds. */
  const current = async (): Promise<Answer> => {
    await making?.catch(() => undefined);
    const fingerprint = await host.fingerprint();
    // If another caller has begun a listing meanwhile, the last answer no longer holds.
    const holds = making === undefined && answer?.fingerprint === fingerprint && !isWritten;
    return holds && answer !== undefined ? answer : renew();
  };
  const check = (): void => {
    if (performance.now() - askedAt > ASKED_LATELY_MS) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    current().catch(warn);
  };

  const ask = async (): Promise<Answer> => {
    askedAt = performance.now();
    timer ??= setInterval(check, CHECK_MS).unref();
    const found = await current();
    if (performance.now() - found.madeAt > OLD_MS) renew().catch(warn);
    return found;
  };

  return {
    /** The data of get_block_devices, by kernel name. @throws DepotError internal */
    all: async (): Promise<Record<string, DiskItem>> => (await ask()).items,
    /** All disks with all their mounts and how full they are. @throws DepotError internal */
    allWithSpace: async (): Promise<Record<string, DiskWithSpace>> => {
      const { items, mounts } = await ask();
      const entries = Object.entries(items).map(
        async ([name, item]): Promise<[string, DiskWithSpace]> => {
          const own = mounts.get(name);
          const space = await spaceIn(own?.seenAt);
          return [name, { ...item, ...space, mounts: [...(own?.mounts ?? [])] }];
        },
      );
      return Object.fromEntries(await Promise.all(entries));
    },
    close: (): undefined => {
      clearInterval(timer);
      stopWatching();
    },
  };
}

function itemsOf(devices: readonly BlockDevice[]): Record<string, DiskItem> {
  const shown = devices.filter(
    ({ type, mounts }) => mounts.length > 0 || (type !== '' && !isPartOfMore(type)),
  );
  return Object.fromEntries(
    shown.map(({ name, path, uuid, version, label, mounts, seenAt, type, sizeBytes }) => [
      name,
      {
        dev: path,
        uuid,
        version,
        label,
        mount: seenAt ?? mounts[0] ?? '',
        type,
        size: istoreSizeText(sizeBytes),
      },
    ]),
  );
}

/** A member of a RAID, of a volume group or of a locked container (libblkid's "raid", "crypto"). */
function isPartOfMore(type: string): boolean {
  return type.endsWith('_member') || type.startsWith('crypto_') || type === 'bcache';
}

/** The first mount of a device that is in sight says how full it is (statvfs(3)). */
async function spaceIn(path: string | undefined): Promise<Space> {
  const space = path === undefined ? undefined : await readSpace(path);
  if (space === undefined) return {};
  const { totalBytes, usedBytes, freeBytes } = space;
  return { total_bytes: totalBytes, used_bytes: usedBytes, free_bytes: freeBytes };
}
