import { release } from 'node:os';
import { readProcess } from '../../device/process-table.ts';
import { listNames } from '../../package-management/names.ts';
import type { DeviceCheck, Finding } from '../device-check.ts';
import { isPresent, type PackageDatabase } from '../../package-management/database.ts';
import type { PackageManager } from '../../package-management/manager.ts';

type Examined = Pick<PackageManager, 'name' | 'diagnosis' | 'installed'>;

/**
 * The state of the packages, as the package manager has it on record.
 * @param isLive whether the kernel that runs is the device's own
 */
export function packageChecks(manager: Examined, isLive: boolean): readonly DeviceCheck[] {
  const { installed } = manager;
  return [
    { id: 'package-database', run: () => judgeDatabase(manager) },
    { id: 'broken-packages', run: async () => judgePackages(await installed()) },
    { id: 'package-lock', run: () => judgeLock(manager) },
    { id: 'hash-pins', run: () => judgeHashPins(manager) },
    {
      id: 'kernel',
      run: async () => judgeKernel(isLive ? release() : undefined, await installed()),
    },
  ];
}

async function judgeDatabase({ name, diagnosis, installed }: Examined): Promise<Finding> {
  const damage = await diagnosis.findDamage();
  if (damage !== undefined) return { state: 'error', ...damage };
  const count = [...(await installed()).values()].filter(isPresent).length;
  return { state: 'ok', message: `${name} has ${count} packages on record` };
}

/** A file that came by hand is bound to its hash: another build of its version is another file. */
async function judgeHashPins({ diagnosis }: Examined): Promise<Finding> {
  const pins = (await diagnosis.hashPins?.()) ?? [];
  if (pins.length === 0) {
    return { state: 'skipped', message: 'no package is bound to the hash of a file' };
  }
  const lost = pins.flatMap(({ name, isOffered }) => (isOffered ? [] : [name]));
  if (lost.length === 0) {
    return { state: 'ok', message: `feeds have the files of all ${pins.length} bound packages` };
  }
  return {
    state: 'warning',
    message: `bound to a file that no feed has: ${lost.slice(0, MOST_NAMES).join(', ')}`,
    remedy: 'keep their files, or install them from a feed: a new firmware cannot fetch them',
  };
}

/** Removed ones leave their configuration on record, and wishes are no packages yet. */
const AT_REST = ['installed', 'not-installed', 'requested', 'config-files'];
const MOST_NAMES = 8;

export function judgePackages(database: PackageDatabase): Finding {
  const damaged = [...database.values()].filter(({ isDamaged }) => isDamaged === true);
  if (damaged.length > 0) {
    return {
      state: 'error',
      message: `a power cut damaged files of ${damaged.map(({ name }) => name).join(', ')}`,
      remedy: 'install them again',
    };
  }
  const broken = [...database.values()].filter(({ state }) => !AT_REST.includes(state));
  if (broken.length === 0) return { state: 'ok', message: 'no package is half installed' };
  const names = broken.map(({ name, state }) => `${name} (${state})`);
  return {
    state: 'warning',
    message: `not installed to their end: ${listNames(names, MOST_NAMES)}`,
    remedy: 'install or upgrade them again, or remove them',
  };
}

async function judgeLock({ name, diagnosis }: Examined): Promise<Finding> {
  const { lockFile: file, lockHolder } = diagnosis;
  const pid = await lockHolder();
  if (pid === undefined) return { state: 'ok', message: `nobody keeps ${name} locked` };
  const holding = pid === 0 ? undefined : readProcess(pid);
  const who = pid === 0 ? 'another process' : `process ${pid} (${holding?.name ?? 'gone'})`;
  return {
    state: 'warning',
    message: `${who} holds ${file}; changes of packages wait for it, ten minutes at most`,
    remedy: `wait until it has ended; one that never does has to be stopped by hand`,
  };
}

/**
 * Modules fit one kernel alone. OpenWrt's packages of them begin their version with the kernel's,
 * such as `6.6.110-r1` or `6.6.110.2025.02.14-r1`.
 * @param running the kernel's own version (uname(2)); undefined if it is not the device's
 */
export function judgeKernel(running: string | undefined, database: PackageDatabase): Finding {
  const modules = [...database.values()].filter(
    (entry) => isPresent(entry) && entry.name.startsWith('kmod-'),
  );
  const count = modules.length;
  if (count === 0) {
    return { state: 'skipped', message: 'no kernel modules came as packages' };
  }
  if (running === undefined) {
    const text =
      `${count} packages of kernel modules are there, and the kernel that runs is not ` +
      'that of main.root';
    return { state: 'skipped', message: text };
  }
  const [number = running] = /^\d+(\.\d+)*/.exec(running) ?? [];
  const strange = modules.filter(
    ({ version }) => !version.startsWith(number) || /^\d/.test(version.slice(number.length)),
  );
  if (strange.length === 0) {
    const text = `all ${count} packages of kernel modules are for the kernel ${number}`;
    return { state: 'ok', message: text };
  }
  const names = strange.slice(0, MOST_NAMES).map(({ name, version }) => `${name} ${version}`);
  return {
    state: 'error',
    message:
      `the kernel ${number} runs, and ${strange.length} of ${modules.length} packages of kernel ` +
      `modules are for another one: ${names.join(', ')}`,
    remedy: 'upgrade the firmware, or install the modules again from the feeds of this firmware',
  };
}
