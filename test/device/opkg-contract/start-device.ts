import { onTestFinished } from 'vitest';

import { createDevice, type Device, type DeviceOptions } from '../device.ts';

/** A device that goes away with the test. */
export async function startDevice(options?: DeviceOptions): Promise<Device> {
  const device = await createDevice(options);
  onTestFinished(() => device.close());
  return device;
}

/** The same after `opkg update`. */
export async function startUpdatedDevice(options?: DeviceOptions): Promise<Device> {
  const device = await startDevice(options);
  const update = await device.opkg('update');
  if (update.code !== 0) {
    throw new Error(`cannot update the device's lists: ${update.stdout}${update.stderr}`);
  }
  return device;
}

/** Text as programs print it: each line with its end. */
export function lines(...texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}

/** What stands on stderr after opkg collected these errors. */
export function errors(...texts: readonly string[]): string {
  return `Collected errors:\n${texts.map((text) => ` * ${text}\n`).join('')}`;
}
