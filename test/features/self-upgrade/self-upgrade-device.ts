import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { DAEMON_PROGRAM } from '../../device/daemon-process.ts';
import { createApkDevice, type ApkDevice } from '../../device/apk-device/apk-device.ts';
import { toApkPackage } from '../../device/apk-device/apk-conversion.ts';
import { runCommand } from '../../device/command.ts';
import { createDevice, type Device } from '../../device/device.ts';
import type { FeedPackage } from '../../device/feed-index.ts';

/** How a version of the store behaves once it is started. */
export type Behaviour = 'good' | 'exits' | 'mute' | 'slow to install' | 'slow and good';

/** What a device is asked for, whatever its package manager. */
type StorableDevice = Pick<Device, 'root' | 'env' | 'path' | 'read' | 'close'>;

/** What the package managers do differently. */
interface Ways {
  readonly set?: readonly string[];
  readonly publish: (source: FeedPackage) => void;
  /** Fetches the lists. */
  readonly update: () => Promise<unknown>;
  readonly install: (name: string) => Promise<unknown>;
  readonly versionOf: (name: string) => Promise<string | undefined>;
}

/** A device on which the store is a package, started and restarted by its own postinst. */
export interface StoreDevice<Kind extends StorableDevice = Device> {
  readonly device: Kind;
  readonly url: string;
  readonly version: () => Promise<string | undefined>;
  /** Offers another version, and lets the device know. */
  readonly offer: (
    version: string,
    behaviour: Behaviour,
    nodeFlags?: readonly string[],
  ) => Promise<void>;
  /** Asks until there is an answer with 200: the daemon may be between two versions. */
  readonly get: (path: string) => Promise<unknown>;
  readonly post: (operation: string) => Promise<{ code: number; task_id?: string; msg?: string }>;
  readonly finished: (taskId: string) => Promise<{ state: string; error?: string }>;
  readonly logOf: (taskId: string) => Promise<string>;
  /** Ends the daemon and all of the job, as a power cut does. */
  readonly powerCut: (taskId: string) => Promise<void>;
  readonly killWatcher: () => Promise<void>;
  /** Kills the daemon, and starts what is installed, as its init script does. */
  readonly restartDaemon: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const LIMIT_S = 6;
/** Each look is a start of Node. */
const PAUSE_S = 0.5;
const ASK_LIMIT_MS = 50_000;

/** Further settings of the daemon, by the device's root. */
export type MoreSettings = (root: string) => Promise<readonly string[]>;

export async function createStoreDevice(more?: MoreSettings): Promise<StoreDevice> {
  const device = await createDevice();
  const set = (await more?.(device.root)) ?? [];
  return openStoreDevice(device, {
    set,
    publish: (source) => device.feed.publish([source]),
    update: () => device.opkg('update'),
    install: (name) => device.opkg('install', name),
    versionOf: async (name) => (await device.database()).get(name)?.version,
  });
}

/** Versions are to be apk's, such as `2.0-r1`. */
export async function createApkStoreDevice(): Promise<StoreDevice<ApkDevice>> {
  const device = await createApkDevice();
  return openStoreDevice(device, {
    publish: (source) => device.publishPackages([toApkPackage(source)]),
    update: () => device.apk('update'),
    install: (name) => device.apk('add', name),
    versionOf: async (name) => (await device.database()).get(name)?.version,
  });
}

async function openStoreDevice<Kind extends StorableDevice>(
  device: Kind,
  ways: Ways,
): Promise<StoreDevice<Kind>> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const base = `${url}/cgi-bin/panel/admin`;
  const offer: StoreDevice['offer'] = async (version, behaviour, nodeFlags = []) => {
    const { set = [] } = ways;
    ways.publish(storePackage({ device, port, version, behaviour, set, nodeFlags }));
    await ways.update();
  };
  await offer('1.0-1', 'good');
  await ways.install('depotd');
  const get: StoreDevice['get'] = async (path) => (await ask(`${base}/${path}`)).json();
  await get('store/token');
  const pidOf = async (): Promise<number> => Number(await device.read('tmp/depotd.pid'));
  return {
    device,
    url,
    offer,
    get,
    version: () => ways.versionOf('depotd'),
    post: async (operation) => {
      const { token } = (await get('store/token')) as { token: string };
      return (await (
        await fetch(`${base}/store/${operation}?token=${token}`, { method: 'POST' })
      ).json()) as { code: number; task_id?: string };
    },
    finished: async (taskId) => {
      for (;;) {
        const status = (await get(`system/tasks/status?task_id=${taskId}`)) as {
          running: boolean;
          state: string;
          error?: string;
        };
        if (!status.running) return status;
        await delay(100);
      }
    },
    logOf: async (taskId) => (await ask(`${base}/system/tasks/log?task_id=${taskId}`)).text(),
    powerCut: async (taskId) => {
      kill(await pidOf());
      for (const pid of await processesOf(taskId)) kill(pid);
    },
    killWatcher: async () => {
      const script = join(device.root, 'etc/depotd/self-upgrade/watch.sh');
      for (const pid of await processesWith('cmdline', `/bin/sh\0${script}\0now`)) kill(pid);
    },
    restartDaemon: async () => {
      kill(await pidOf());
      await runCommand(['sh', '-c', startText(device)], { env: device.env });
    },
    close: async () => {
      kill(await pidOf());
      await device.close();
    },
  };
}

async function ask(url: string): Promise<Response> {
  const deadline = performance.now() + ASK_LIMIT_MS;
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.status === 200) return answer;
    if (performance.now() > deadline) {
      throw new Error(`${url} has not answered: ${answer?.status ?? 'nobody is there'}`);
    }
    await delay(100);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function kill(pid: number): void {
  try {
    if (pid > 1) process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function processesOf(taskId: string): Promise<number[]> {
  return processesWith('environ', `DEPOTD_JOB=${taskId}`);
}

/** Processes whose file of that name below /proc holds the text, between NULs. */
async function processesWith(file: 'environ' | 'cmdline', text: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const contents = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '')),
  );
  return pids
    .filter((_, index) => `\0${contents[index] ?? ''}`.includes(`\0${text}\0`))
    .map(Number);
}

function storePackage({
  device,
  port,
  version,
  behaviour,
  set,
  nodeFlags,
}: {
  device: StorableDevice;
  port: number;
  version: string;
  behaviour: Behaviour;
  set: readonly string[];
  nodeFlags: readonly string[];
}): FeedPackage {
  const own = [
    ...[`main.root=${device.root}`, 'main.auth=none', 'main.owner_socket='],
    `main.listen=127.0.0.1:${port}`,
  ];
  const settings = [...own, ...set].map((setting) => `--set ${setting}`).join(' ');
  const flags = nodeFlags.map((flag) => `'${flag}'`).join(' ');
  const good = `exec ${process.execPath} ${flags} ${DAEMON_PROGRAM} --config /dev/null ${settings}`;
  const start = {
    good,
    'slow and good': good,
    exits: 'exit 1',
    mute: 'exec sleep 300',
    'slow to install': 'exit 1',
  }[behaviour];
  return {
    name: 'depotd',
    version,
    architecture: 'all',
    files: {
      '/usr/bin/depotd': { mode: 0o755, content: `#!/bin/sh\n${start}\n` },
      '/etc/config/depotd': `# ${version}\n`,
      [`/usr/share/depotd/${version}`]: version,
    },
    conffiles: ['/etc/config/depotd'],
    scripts: {
      postinst: restartScript(device),
      ...(behaviour.startsWith('slow') && {
        preinst: `#!/bin/sh\necho preinst begins\nsleep ${behaviour === 'slow and good' ? 5 : 20}\n`,
      }),
    },
  };
}

/**
 * Stands for the init script: ends the daemon that runs, and starts what is installed, in a session
 * of its own.
 */
function restartScript(device: StorableDevice): string {
  return `#!/bin/sh
pid_file="$IPKG_INSTROOT/tmp/depotd.pid"
[ ! -f "$pid_file" ] || kill "$(cat "$pid_file")" 2>/dev/null
${startText(device)}`;
}

function startText({ path }: StorableDevice): string {
  return `pid_file="$IPKG_INSTROOT/tmp/depotd.pid"
export PATH='${path}' DEPOTD_SELF_UPGRADE_LIMIT_S=${LIMIT_S} DEPOTD_SELF_UPGRADE_PAUSE_S=${PAUSE_S}
unset DEPOTD_JOB IPKG_INSTROOT
setsid sh -c 'echo $$ >"$1"; exec "$2"' sh "$pid_file" "\${pid_file%/tmp/*}/usr/bin/depotd" </dev/null >/dev/null 2>&1 &
`;
}
