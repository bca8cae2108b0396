import { open } from 'node:fs/promises';
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

/** Tells the user id at the other end; undefined if it cannot be known. */
export type PeerUsers = (connection: Connection) => Promise<number | undefined>;

/**
 * The user ids at the other ends of connections within this host, from the kernel's tables of
 * sockets (proc_pid_net(5)). A container that shares the host's network shows its own user's id. Of
 * an end that was closed meanwhile nothing is known.
 *
 * Whoever opens many connections makes the tables long, and may ask for all of them at once. So one
 * reading runs at a time, line by line, and answers all who asked before it began.
 * @param folder where the tables are
 */
export function createPeerUsers(folder = '/proc/net'): PeerUsers {
  /** `ends`: how the kernel's tables write the two ends. */
  let questions: { ends: readonly string[]; answer: (user: number | undefined) => void }[] = [];
  let isReading = false;
  const readAll = async (): Promise<void> => {
    isReading = true;
    while (questions.length > 0) {
      const batch = questions;
      questions = [];
      const users = await readUsers(folder, new Set(batch.flatMap(({ ends }) => ends)));
      for (const { ends, answer } of batch) {
        answer(ends.map((end) => users.get(end)).find((user) => user !== undefined));
      }
    }
    isReading = false;
  };
  return (connection) => {
    const ends = endsOf(connection);
    if (ends.length === 0) return Promise.resolve(undefined);
    return new Promise((answer) => {
      questions.push({ ends, answer });
      if (!isReading) void readAll();
    });
  };
}

/** Theirs is the mirror image of ours. One end may be an IPv6 socket though it speaks IPv4. */
function endsOf({ localAddress, localPort, remoteAddress, remotePort }: Connection): string[] {
  if (localAddress === undefined || remoteAddress === undefined) return [];
  return [plainForm, mappedForm].flatMap((form) => {
    const [theirs, ours] = [form(remoteAddress), form(localAddress)];
    if (theirs === undefined || ours === undefined) return [];
    return [`${theirs}:${portForm(remotePort)} ${ours}:${portForm(localPort)}`];
  });
}

async function readUsers(folder: string, wanted: ReadonlySet<string>) {
  const users = new Map<string, number>();
  for (const table of ['tcp', 'tcp6']) {
    try {
      const file = await open(`${folder}/${table}`);
      for await (const row of file.readLines({ encoding: 'latin1' })) {
        const [, ends = '', uid, inode] = ROW.exec(row) ?? [];
        // A socket that nobody has open any more has no inode, and names 0 as its user.
        if (wanted.has(ends) && Number(inode) > 0) users.set(ends, Number(uid));
      }
    } catch {
      // A kernel without IPv6 has no tcp6; without any table nothing is known.
    }
  }
  return users;
}

/** Columns: number, both ends, state, queues, timer, retransmits, uid, timeout, inode. */
const ROW = /^\s*\d+: (\S+ \S+) \S+ \S+ \S+ \S+\s+(\d+)\s+\d+ (\d+)/;

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
