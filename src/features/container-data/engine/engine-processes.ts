import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** An engine, the part of it that outlives its crash, or a container. */
export interface Holder {
  /** `process 123 (dockerd)` */
  text: string;
  /** The container that it belongs to. */
  container?: string;
}

/** An engine, or the containerd it started, has these open and locked as long as it lives. */
const DATABASES = [
  'volumes/metadata.db',
  'network/files/local-kv.db',
  'containerd/daemon/io.containerd.metadata.v1.bolt/meta.db',
];

/**
 * Who works in a data root: a dockerd or containerd by the databases that it has open, containers
 * by their control group or shim. All but dockerd outlive one that was killed, and go on writing.
 */
export async function findHolders(dataRoot: string): Promise<Holder[]> {
  const [databases, containers] = await Promise.all([
    databasesOf(dataRoot),
    containersOf(dataRoot),
  ]);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => asHolder(pid, { containers, databases })));
  return found.filter((holder) => holder !== undefined);
}

async function databasesOf(dataRoot: string): Promise<Set<string>> {
  const names = await readdir(join(dataRoot, 'buildkit')).catch(() => []);
  const files = [
    ...DATABASES,
    ...names.filter((name) => name.endsWith('.db')).map((name) => join('buildkit', name)),
  ];
  const known = await Promise.all(files.map((file) => identityOf(join(dataRoot, file))));
  return new Set(known.filter((identity) => identity !== undefined));
}

async function containersOf(dataRoot: string): Promise<Set<string>> {
  const names = await readdir(join(dataRoot, 'containers')).catch(() => []);
  return new Set(names.filter((name) => /^[0-9a-f]{64}$/.test(name)));
}

async function asHolder(
  pid: string,
  { containers, databases }: Record<'containers' | 'databases', ReadonlySet<string>>,
): Promise<Holder | undefined> {
  const container = await containerOf(pid, containers);
  if (container === undefined && !(await hasOpen(pid, databases))) return undefined;
  const name = (await readFile(`/proc/${pid}/comm`, 'latin1').catch(() => '')).trim();
  return {
    text: `process ${pid} (${name})`,
    ...(container !== undefined && { container }),
  };
}

async function containerOf(pid: string, containers: ReadonlySet<string>) {
  if (containers.size === 0) return undefined;
  const [groups = '', words = ''] = await Promise.all(
    ['cgroup', 'cmdline'].map((name) => readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => '')),
  );
  const group = [...groups.matchAll(/[0-9a-f]{64}/g)]
    .map(([id]) => id)
    .find((id) => containers.has(id));
  if (group !== undefined || !words.includes('containerd-shim')) return group;
  return words.split('\0').find((word) => containers.has(word));
}

async function hasOpen(pid: string, databases: ReadonlySet<string>): Promise<boolean> {
  if (databases.size === 0) return false;
  const folder = `/proc/${pid}/fd`;
  for (const name of await readdir(folder).catch(() => [])) {
    const path = await readlink(join(folder, name)).catch(() => '');
    if (path.endsWith('.db') && databases.has((await identityOf(join(folder, name))) ?? '')) {
      return true;
    }
  }
  return false;
}

async function identityOf(path: string): Promise<string | undefined> {
  return stat(path).then(
    ({ dev, ino }) => `${dev}:${ino}`,
    () => undefined,
  );
}
