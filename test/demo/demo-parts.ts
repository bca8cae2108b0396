import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { awkwardPackages, tinyPackages } from '../device/packages/awkward-packages.ts';
import { runCommand } from '../device/command.ts';
import { startAppPages } from './app-pages.ts';
import { CONFIG_FILE, startDemoDaemon, type DemoDaemon } from './demo-daemon.ts';
import { createFeed, type Feed } from '../device/feed.ts';
import { appPackages } from '../device/packages/packages.ts';
import { storeApps } from '../device/packages/store-apps.ts';
import { createRoot } from '../device/root.ts';

export interface Demo {
  folder: string;
  /** Root of the daemon's CGI path tree. */
  api: string;
  /** Settles with the end of the daemon's log when the daemon has ended. */
  daemonEnded: Promise<string>;
  /** Stops what runs on the device, the daemon and the feed. */
  close: () => Promise<void>;
}

/** Tells that the folder is a demo's, so that no other is ever written to or emptied. */
const MARK = 'depotd-demo.json';

/**
 * Starts everything on what the folder holds, or on a new device. @throws Error that says what to
 * do
 */
export async function startDemo(folder: string): Promise<Demo> {
  await claimFolder(folder);
  const root = join(folder, 'root');
  const environment = {
    ...process.env,
    PATH: [join(import.meta.dirname, '../device/bin'), process.env.PATH ?? ''].join(delimiter),
    TMPDIR: join(folder, 'tmp'),
  };
  await mkdir(environment.TMPDIR, { recursive: true });
  const feed = await createFeed([
    ...appPackages(1),
    ...storeApps(),
    ...awkwardPackages(),
    ...tinyPackages(),
  ]);
  const pages = await startAppPages();
  const closeServers = async (): Promise<void> => {
    await feed.close();
    await pages.close();
  };
  try {
    await layOut(root, feed);
    await writeFile(join(root, 'etc/config/uhttpd'), pages.config);
    await writeFile(join(root, CONFIG_FILE), '', { flag: 'a' });
    await updateLists(root, environment);
    const daemon = await startDemoDaemon({
      root,
      logFile: join(folder, 'daemon.log'),
      environment,
    });
    await writeFile(
      join(folder, MARK),
      JSON.stringify({ url: daemon.url, daemonPid: daemon.pid, demoPid: process.pid }),
    );
    return {
      folder,
      api: daemon.api,
      daemonEnded: daemon.ended,
      close: () => closeAll(daemon, closeServers),
    };
  } catch (error) {
    await closeServers();
    throw error;
  }
}

async function claimFolder(folder: string): Promise<void> {
  const mark = await readFile(join(folder, MARK), 'utf8').catch(() => undefined);
  if (mark === undefined) {
    const names = await readdir(folder).catch(() => []);
    if (names.length > 0) {
      throw new Error(
        `the folder ${folder} holds something else; remove it, or name another: npm run demo -- FOLDER`,
      );
    }
  } else await refuseSecond(folder, mark);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, MARK), '{}');
  } catch (error) {
    throw new Error(
      `the folder ${folder} cannot be written (${String(error)}); name another: npm run demo -- FOLDER`,
      { cause: error },
    );
  }
}

/**
 * One daemon works on a device. What does not answer has ended, whoever has its process id today.
 */
async function refuseSecond(folder: string, mark: string): Promise<void> {
  const { url, daemonPid, demoPid } = JSON.parse(mark === '' ? '{}' : mark) as {
    url?: string;
    daemonPid?: number;
    demoPid?: number;
  };
  if (url === undefined) return;
  const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2000) }).catch(
    () => undefined,
  );
  if (answer === undefined || !(await runsOn(daemonPid, folder))) return;
  const pids = (await runsOn(demoPid, 'demo.ts')) ? `${demoPid ?? ''}` : `${daemonPid ?? ''}`;
  throw new Error(
    `one runs in ${folder} already, at ${url}; end it with Ctrl-C where it was started, or: kill ${pids}`,
  );
}

async function runsOn(pid: number | undefined, word: string): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid ?? 0}/cmdline`, 'utf8').catch(() => '');
  return commandLine.includes(word);
}

/**
 * A device that was being laid out when the demo was killed is begun anew; one that is whole is
 * kept and learns the feed's new address.
 */
async function layOut(root: string, feed: Feed): Promise<void> {
  const ready = `${root}.ready`;
  const isReady = await access(ready).then(
    () => true,
    () => false,
  );
  if (isReady) {
    await writeFile(join(root, 'etc/opkg/distfeeds.conf'), `src/gz lab ${feed.url}\n`);
    return;
  }
  await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  await createRoot(root, { feedUrl: feed.url, isSigned: false });
  await writeFile(ready, '');
}

async function updateLists(root: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { code, stdout, stderr } = await runCommand(['opkg', '-o', root, 'update'], {
    env,
    cwd: root,
  }).catch((error: unknown) => ({ code: 127, stdout: '', stderr: String(error) }));
  if (code !== 0) {
    throw new Error(
      `the stand-in for opkg cannot fetch the package lists:\n${stdout}${stderr}\nIt needs perl: on Debian, apt-get install perl`,
    );
  }
}

async function closeAll(daemon: DemoDaemon, closeServers: () => Promise<void>): Promise<void> {
  await stopTasks(daemon.api);
  await daemon.end();
  await closeServers();
}

/** The daemon asks for the end three times, ten seconds apart. */
const STOP_LIMIT_MS = 40_000;

/** Tasks outlive their daemon; here nothing shall outlive the demo. */
async function stopTasks(api: string): Promise<void> {
  const deadline = performance.now() + STOP_LIMIT_MS;
  const asked = new Set<string>();
  while (performance.now() < deadline) {
    const running = await runningTasks(api);
    if (running.length === 0) return;
    const { token } = (await (await fetch(`${api}/admin/store/token`)).json()) as { token: string };
    for (const id of running.filter((each) => !asked.has(each))) {
      asked.add(id);
      await fetch(`${api}/admin/system/tasks/stop`, {
        method: 'POST',
        body: new URLSearchParams({ task_id: id, token }),
      });
    }
    await delay(100);
  }
}

/** None where the daemon has ended by itself. */
async function runningTasks(api: string): Promise<string[]> {
  const answer = await fetch(`${api}/admin/system/tasks/status`).catch(() => undefined);
  if (answer?.ok !== true) return [];
  const tasks = (await answer.json()) as Record<string, { running: boolean }>;
  // The waiting ones first: else each would begin when the one before it is stopped.
  return Object.keys(tasks)
    .filter((id) => tasks[id]?.running === true)
    .reverse();
}
