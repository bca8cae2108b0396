import type { Dirent, Stats } from 'node:fs';
import { lstat, opendir, readdir, readFile, readlink } from 'node:fs/promises';
import { parseMountTable } from '../../device/disk/mounts.ts';
import type { Listener } from './documentation.ts';

/** What runs as somebody else, or listens, and came with no package. */

const SET_ID = 0o6000;
/** Folders that are not looked at: the kernel's, the image, and where engines keep containers. */
const LEFT_OUT = [
  ...['/proc', '/sys', '/dev', '/rom', '/overlay', '/opt/docker', '/opt/containerd'],
  ...['docker', 'containerd', 'containers'].map((name) => `/var/lib/${name}`),
];
/** Limits for one folder, so that whoever fills one hides nothing in another; and for all. */
const MOST_IN_FOLDER = 50_000;
const MOST_ENTRIES = 1_000_000;
const MOST_UNSEEN = 100;

/**
 * Files that run with another's rights, below the root and on its own disk.
 * @returns `unseen`: folders that have too much in them for all of it to be looked at
 */
export async function findSetId(
  root: string,
  { isRecorded, signal, mostInFolder = MOST_IN_FOLDER, mountTable = ownMountTable }: SetIdLook,
): Promise<{ found: string[]; unseen: string[] }> {
  const { dev } = await lstat(root);
  // Each byte of a name is a character: one that is no UTF-8 hides neither itself nor its folder.
  const base = Buffer.from(root).toString('latin1').replace(/\/$/, '');
  const bytesOf = (path: string): Buffer => Buffer.from(`${base}${path}` || '/', 'latin1');
  const found: string[] = [];
  const unseen: string[] = [];
  const open = [''];
  // Another disk is not even asked whether it is one: one that has gone never answers.
  const mounted = new Set(parseMountTable(await mountTable()).map(({ path }) => path));
  const isLeftOut = (path: string): boolean =>
    LEFT_OUT.includes(path) || mounted.has(`${base}${path}`);
  let seen = 0;
  const look = async (path: string, entry: Dirent): Promise<void> => {
    const isFolder = entry.isDirectory();
    if (!isFolder && !entry.isFile()) return;
    const stat = await lstat(bytesOf(path)).catch(() => undefined);
    if (stat === undefined) return;
    if (isFolder && stat.dev === dev && !isRootsAlone(stat)) open.push(path);
    const isSetId = !isFolder && (stat.mode & SET_ID) !== 0;
    if (isSetId && !isRecorded(textOf(path))) found.push(textOf(path));
  };
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    let count = 0;
    for await (const entry of entriesOf(bytesOf(folder))) {
      signal.throwIfAborted();
      count += 1;
      seen += 1;
      if (count > mostInFolder || seen > MOST_ENTRIES) {
        if (unseen.length < MOST_UNSEEN) unseen.push(textOf(folder) || '/');
        break;
      }
      const path = `${folder}/${Buffer.from(entry.name).toString('latin1')}`;
      if (!isLeftOut(path)) await look(path, entry);
    }
  }
  return { found: found.sort(), unseen: unseen.sort() };
}

/** Each byte is a character, as above. */
async function ownMountTable(): Promise<string> {
  return readFile('/proc/self/mountinfo', 'latin1').catch(() => '');
}

function textOf(path: string): string {
  return Buffer.from(path, 'latin1').toString();
}

/** A folder in which nobody else comes to anything, as a data root that dockerd made (0710). */
function isRootsAlone({ uid, gid, mode }: Stats): boolean {
  return uid === 0 && gid === 0 && (mode & 0o001) === 0;
}

/** Node's types do not know that names can be had so. */
const AS_BYTES = { encoding: 'buffer' as BufferEncoding };

/** Folders are read by entry: some have a million. A damaged disk may not read to the end. */
async function* entriesOf(folder: Buffer): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder, AS_BYTES);
  } catch {
    // A folder that cannot be read on counts as if it ended there.
  }
}

/** tcp: LISTEN (proc(5)); udp: no peer. */
const WAITING = { tcp: '0A', udp: '07' } as const;

interface Look {
  isRecorded: (path: string) => boolean;
  /** Ends the look in the middle. */
  signal: AbortSignal;
}

interface SetIdLook extends Look {
  mostInFolder?: number;
  mountTable?: () => Promise<string>;
}

/** Programs that listen on the host of this process, and that no package has on record. */
export async function findListeners({ isRecorded, signal }: Look): Promise<Listener[]> {
  const sockets = new Map<string, Omit<Listener, 'pid' | 'program'>>();
  for (const protocol of ['tcp', 'udp'] as const) {
    for (const file of [protocol, `${protocol}6`]) {
      const text = await readFile(`/proc/net/${file}`, 'latin1').catch(() => '');
      for (const line of text.split('\n').slice(1)) {
        const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
        if (state !== WAITING[protocol]) continue;
        const [hex = '', port = ''] = local.split(':');
        const address = addressOf(hex);
        sockets.set(`socket:[${inode}]`, { protocol, address, port: parseInt(port, 16) });
      }
    }
  }
  const found: Listener[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    signal.throwIfAborted();
    const held = await socketsOf(pid, sockets);
    if (held.length === 0) continue;
    const program = await strangerIn(pid, isRecorded);
    if (program === undefined) continue;
    found.push(...held.map((socket) => ({ ...socket, pid: Number(pid), program })));
  }
  return found.sort((one, other) => one.port - other.port);
}

async function socketsOf<Socket>(pid: string, sockets: ReadonlyMap<string, Socket>) {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => ''));
  return (await Promise.all(links)).flatMap((link) => sockets.get(link) ?? []);
}

/** A program of a package runs a script that came with none. */
async function strangerIn(pid: string, isRecorded: (path: string) => boolean) {
  const program = await readlink(`/proc/${pid}/exe`).catch(() => undefined);
  if (program === undefined) return undefined;
  if (!isRecorded(program)) return program;
  const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  const script = words.slice(1).find((word) => word.startsWith('/'));
  if (script === undefined || isRecorded(script)) return undefined;
  const stat = await lstat(script).catch(() => undefined);
  const isProgram = stat?.isFile() === true && /\.(?:[cm]?js|sh|py|lua|uc|pl)$/.test(script);
  return isProgram ? `${program} ${script}` : undefined;
}

/** Words of four bytes, each as this processor has it; all that Node is built for are LE. */
function addressOf(hex: string): string {
  const reversed = (word: string): number[] => [...Buffer.from(word, 'hex')].reverse();
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap(reversed);
  if (bytes.length === 4) return bytes.join('.');
  const groups = Buffer.from(bytes).toString('hex').match(/.{4}/g) ?? [];
  // URL writes the short form of an IPv6 address.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
