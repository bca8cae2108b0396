import { onTestFinished } from 'vitest';

import {
  createApkDevice,
  type ApkDevice,
  type ApkDeviceOptions,
} from '../apk-device/apk-device.ts';
import type { ApkFeedPackage } from '../apk-device/apk-index.ts';

/** A device that goes away with the test. */
export async function startApkDevice(options?: ApkDeviceOptions): Promise<ApkDevice> {
  const device = await createApkDevice(options);
  onTestFinished(() => device.close());
  return device;
}

/** The same after `apk update`. */
export async function startUpdatedApkDevice(options?: ApkDeviceOptions): Promise<ApkDevice> {
  const device = await startApkDevice(options);
  await mustWork(device, 'update');
  return device;
}

/** Runs apk where the test depends on its success. */
export async function mustWork(device: ApkDevice, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await device.apk(...args);
  if (code !== 0) throw new Error(`cannot ${args.join(' ')}: ${code} ${stdout}${stderr}`);
  return stdout;
}

/** Text as programs print it: each line with its end. */
export function lines(...texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}

/** A package with one program and whatever else. */
export function simpleApk(name: string, more: Partial<ApkFeedPackage> = {}): ApkFeedPackage {
  const program = { mode: 0o755, content: `${name}\n` };
  return {
    name,
    version: '1.0-r1',
    ...more,
    files: { [`/usr/bin/${name}`]: program, ...more.files },
  };
}

export function script(body: string): string {
  return `#!/bin/sh\n${body}\n`;
}

/** What is installed besides the base system, and what world names besides it. */
export async function stateOf(
  device: ApkDevice,
): Promise<{ installed: string[]; world: string[] }> {
  const installed = [...(await device.database())].map(([name, { version, flags }]) =>
    flags === '' ? `${name}-${version}` : `${name}-${version} [${flags}]`,
  );
  return {
    installed: installed.filter((name) => !/^(?:base-files|busybox|libc)-\d/.test(name)),
    world: (await device.world()).filter(
      (line) => !['base-files', 'busybox', 'libc'].includes(line),
    ),
  };
}
