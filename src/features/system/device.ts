import { freemem, loadavg, machine, release, totalmem, uptime } from 'node:os';
import { readSmallBytes } from '../../device/owner-file.ts';
import type { Paths } from '../../device/paths.ts';
import type { DeviceSummary } from './documentation.ts';
import { readStorage } from './storage.ts';

export interface DeviceSources {
  paths: Paths;
  manager: { name: string; architecture: () => Promise<string> };
  version: string;
}

/** From the kernel and files: a library that asks more of the machine would cost megabytes. */
export async function readDevice(sources: DeviceSources): Promise<DeviceSummary> {
  const { paths, manager, version } = sources;
  const [model, system, architecture, available, storage] = await Promise.all([
    readModel(paths),
    readRelease(paths),
    manager.architecture().catch(() => ''),
    readAvailableMemory(),
    readStorage(paths),
  ]);
  return {
    ...(model === undefined ? {} : { model }),
    ...(system === undefined ? {} : { release: system }),
    kernel: release(),
    architecture: architecture === '' ? machine() : architecture,
    uptime_s: Math.floor(uptime()),
    load: loadavg().map((value) => Math.round(value * 100) / 100),
    memory: { total_bytes: totalmem(), available_bytes: available },
    storage,
    package_manager: manager.name,
    depotd: version,
  };
}

/** OpenWrt's own name, the device tree's (it ends with NUL), or what a PC's firmware says. */
async function readModel({ onDevice }: Paths): Promise<string | undefined> {
  const [own, tree, vendor, product] = await Promise.all([
    textOf(onDevice('/tmp/sysinfo/model')),
    textOf('/proc/device-tree/model'),
    textOf('/sys/class/dmi/id/sys_vendor'),
    textOf('/sys/class/dmi/id/product_name'),
  ]);
  const firmware = [vendor, product].filter((text) => text !== undefined).join(' ');
  return own ?? tree ?? (firmware === '' ? undefined : firmware);
}

/** `DISTRIB_DESCRIPTION` of /etc/openwrt_release, else os-release(5)'s `PRETTY_NAME`. */
async function readRelease({ onDevice }: Paths): Promise<string | undefined> {
  const openwrt = await textOf(onDevice('/etc/openwrt_release'));
  const named =
    valueIn(openwrt, 'DISTRIB_DESCRIPTION') ??
    [valueIn(openwrt, 'DISTRIB_ID'), valueIn(openwrt, 'DISTRIB_RELEASE')]
      .filter((text) => text !== undefined)
      .join(' ');
  if (named !== '') return named;
  const other = (await textOf(onDevice('/etc/os-release'))) ?? '';
  return valueIn(other, 'PRETTY_NAME') ?? valueIn(other, 'NAME');
}

/** A line of a file that shells read: `NAME='value'`. */
function valueIn(text: string | undefined, name: string): string | undefined {
  const [, , value] = new RegExp(`^${name}=(['"]?)(.*)\\1[ \\t]*$`, 'm').exec(text ?? '') ?? [];
  const plain = value?.trim() ?? '';
  return plain === '' ? undefined : plain;
}

/** `MemAvailable` (proc(5)) counts caches that can be given up; kernels before 3.14 lack it. */
async function readAvailableMemory(): Promise<number> {
  const text = (await textOf('/proc/meminfo')) ?? '';
  const [, kib] = /^MemAvailable:\s+(\d+) kB$/m.exec(text) ?? [];
  return kib === undefined ? freemem() : Number(kib) * 1024;
}

const MOST_BYTES = 64 * 1024;

/** Text of a small file; undefined if it is not there or says nothing. */
async function textOf(file: string): Promise<string | undefined> {
  // On a system that is no OpenWrt /tmp/sysinfo is whoever's makes it.
  const text = (await readSmallBytes(file, MOST_BYTES))?.toString() ?? '';
  const plain = text.replaceAll('\0', '').trim();
  return plain === '' ? undefined : plain;
}
