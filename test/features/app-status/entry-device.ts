import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import type { FeedPackage } from '../../device/feed-index.ts';

/** A script that says that the app runs, and one that also counts its runs. */
export const RUNNING = `echo '{"app":"x","docker":false,"running":true,"web":":80"}'`;
export const COUNTING = `echo run >>"$0.runs"; ${RUNNING}`;

export interface EntryAnswer {
  code: number;
  status: { app: string; running: boolean }[];
  errors: { app: string; code: number; msg: string }[];
}

type Parameters = Readonly<Record<string, string>>;

/**
 * A device with five apps; each but `plain` says that it can be asked, and none has a script yet.
 */
export interface EntryDevice {
  readonly device: Device;
  readonly daemon: TestDaemon;
  readonly post: (params: Parameters) => Promise<Response>;
  readonly entries: (params: Parameters) => Promise<EntryAnswer>;
  readonly scriptFile: (app: string) => string;
  /** Writes the app's entry script. */
  readonly script: (app: string, body: string) => Promise<void>;
  readonly runsOf: (app: string) => Promise<number>;
  /** All of them, and how often they ran. */
  readonly removeScripts: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function createEntryDevice(): Promise<EntryDevice> {
  const apps = ['fast', 'second', 'plain', 'lost', 'rich'];
  const device = await createDevice({
    packages: [...apps.map((app) => metaPackage(app)), tool('1.0-1')],
  });
  await device.opkg('update');
  await device.opkg('install', ...apps.map((app) => `app-meta-${app}`));
  const daemon = await startDaemon(device);
  const folder = join(device.root, 'usr/libexec/istoree');
  await mkdir(folder, { recursive: true });
  const post: EntryDevice['post'] = (params) => daemon.post('admin/store/entrysh', params);
  const scriptFile = (app: string): string => join(folder, `${app}.sh`);
  return {
    device,
    daemon,
    post,
    scriptFile,
    entries: async (params) => (await (await post(params)).json()) as EntryAnswer,
    script: (app, body) => writeFile(scriptFile(app), `#!/bin/sh\n${body}\n`, { mode: 0o755 }),
    runsOf: async (app) =>
      (await readFile(`${scriptFile(app)}.runs`, 'utf8').catch(() => '')).split('\n').length - 1,
    removeScripts: async () => {
      await rm(folder, { recursive: true });
      await mkdir(folder);
    },
    close: async () => {
      await daemon.close();
      await device.close();
    },
  };
}

/** Puts a later version of what the app depends on into the feed. */
export async function publishTool(device: Device, version: string): Promise<void> {
  device.feed.publish([metaPackage('fast'), tool(version)]);
  await device.opkg('update');
}

/** How many processes run this very command. */
export async function countOf(...argv: readonly string[]): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.filter((line) => line === `${argv.join('\0')}\0`).length;
}

function metaPackage(app: string): FeedPackage {
  const meta = {
    name: app,
    title: app,
    version: '1.0',
    release: 1,
    arch: ['x86_64'],
    tags: [],
    depends: ['tool'],
    ...(app === 'plain' ? {} : { flags: ['entrysh'], uci: app }),
  };
  return {
    name: `app-meta-${app}`,
    version: '1.0-1',
    architecture: 'all',
    fields: { Depends: 'tool' },
    files: { [`/usr/lib/opkg/meta/${app}.json`]: JSON.stringify(meta) },
  };
}

function tool(version: string): FeedPackage {
  return { name: 'tool', version, architecture: 'all', files: { '/usr/bin/tool': `${version}\n` } };
}
