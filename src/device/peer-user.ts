import { readFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { endianness } from 'node:os';
import { canonicalAddress } from '../config/ip-address.ts';

/** Both ends of a TCP connection, as this process sees them. */
export interface Connection {
  localAddress?: string | undefined;
  localPort?: number | undefined;
  remoteAddress?: string | undefined;
  remotePort?: number | undefined;
}

/**
 * The user id at the other end of a connection within this host, from the kernel's table of sockets
 * (proc_pid_net(5)). A container that shares the host's network shows its own user's id.
 * @param folder where the tables are
 * @returns undefined if it cannot be told, as of an end that was closed meanwhile
 */
export async function userOfPeer(
  connection: Connection,
  folder = '/proc/net',
): Promise<number | undefined> {
  const { localAddress, localPort, remoteAddress, remotePort } = connection;
  if (localAddress === undefined || remoteAddress === undefined) return undefined;
  // Theirs is the mirror image of ours. One end may be an IPv6 socket though it speaks IPv4.
  for (const [table, form] of [
    ['tcp', plainForm],
    ['tcp6', mappedForm],
  ] as const) {
    const [theirs, ours] = [form(remoteAddress), form(localAddress)];
    if (theirs === undefined || ours === undefined) continue;
    const ends = `: ${theirs}:${portForm(remotePort)} ${ours}:${portForm(localPort)} `;
    const text = await readFile(`${folder}/${table}`, 'latin1').catch(() => '');
    const row = text.split('\n').find((line) => line.includes(ends));
    const user = row === undefined ? undefined : userIn(row);
    if (user !== undefined) return user;
  }
  return undefined;
}

/** Columns: number, ends, state, queues, timer, retransmits, uid, timeout, inode. */
function userIn(row: string): number | undefined {
  const columns = row.trim().split(/\s+/);
  const [uid, inode] = [Number(columns[7]), Number(columns[9])];
  // A socket that nobody has open any more has no inode, and tells 0 of its user.
  return Number.isInteger(uid) && inode > 0 ? uid : undefined;
}

function portForm(port: number | undefined): string {
  return (port ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

function plainForm(address: string): string | undefined {
  const plain = canonicalAddress(address);
  return isIPv4(plain) ? wordForm(plain.split('.').map(Number)) : undefined;
}

/** `::1`, or IPv4 in an IPv6 socket; no other address is this host's loopback. */
function mappedForm(address: string): string | undefined {
  const zeros = '0'.repeat(16);
  if (address === '::1') return `${zeros}${'0'.repeat(8)}${wordForm([0, 0, 0, 1])}`;
  const plain = plainForm(address);
  return plain === undefined ? undefined : `${zeros}${wordForm([0, 0, 255, 255])}${plain}`;
}

/** Four bytes of an address, as the kernel prints the number that they are to this processor. */
function wordForm(bytes: readonly number[]): string {
  const inOrder = endianness() === 'LE' ? [...bytes].reverse() : bytes;
  return inOrder
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
}
