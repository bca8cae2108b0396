import { readdir, readFile } from 'node:fs/promises';
import type { Paths } from '../../device/paths.ts';
import { DepotError } from '../../errors.ts';

/**
 * The name of the device at its server. `%mac` and `%serial` stand for what the hardware says: its
 * own id would die with a factory reset.
 * @throws DepotError unavailable if the device does not know it
 */
export async function expandControllerId(wanted: string, paths: DevicePaths): Promise<string> {
  let id = wanted;
  for (const [variable, read] of Object.entries(READERS)) {
    if (!id.includes(variable)) continue;
    const value = await read(paths);
    if (value === undefined) {
      throw new DepotError('unavailable', `cannot tell ${variable} of fleet.controller_id`);
    }
    id = id.replaceAll(variable, value);
  }
  return id;
}

type DevicePaths = Pick<Paths, 'onDevice'>;
const READERS = { '%mac': readMac, '%serial': readSerial };
export const ID_VARIABLES = Object.keys(READERS);

/** MAC address on the device's label, else of its first port: 12 hexadecimal digits. */
export async function readMac({ onDevice }: DevicePaths): Promise<string | undefined> {
  const board = await textOf(onDevice('/etc/board.json'));
  const label = /"label_macaddr"\s*:\s*"([0-9a-fA-F:]{17})"/.exec(board)?.[1];
  const folder = onDevice('/sys/class/net');
  const ports = (await readdir(folder).catch(() => [])).sort((a, b) => rankOf(a) - rankOf(b));
  const found = [label ?? ''];
  for (const port of ports) found.push(await textOf(`${folder}/${port}/address`));
  return found
    .map((mac) => mac.toLowerCase().replaceAll(':', ''))
    .find((mac) => /^[0-9a-f]{12}$/.test(mac) && !/^0+$/.test(mac));
}

/** Ports of cables first; a bridge has the address of one of them. */
function rankOf(port: string): number {
  const rank = ['eth', 'lan', 'wan', 'en', 'br-'].findIndex((start) => port.startsWith(start));
  return rank < 0 ? 9 : rank;
}

export async function readSerial({ onDevice }: DevicePaths): Promise<string | undefined> {
  const files = ['/proc/device-tree/serial-number', '/sys/class/dmi/id/product_serial'];
  for (const file of files) {
    const serial = (await textOf(onDevice(file))).replace(/[^A-Za-z0-9._-]/g, '');
    if (serial !== '') return serial.slice(0, 64);
  }
  return undefined;
}

async function textOf(file: string): Promise<string> {
  return (await readFile(file, 'latin1').catch(() => '')).trim();
}
