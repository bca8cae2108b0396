import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { TaskStatus } from '../device/daemon.ts';
import { createIpk } from '../device/ipk.ts';
import type { FeedVersion } from '../device/packages/packages.ts';
import type { Bench } from './bench.ts';
import { UPLOADED, uploadedProgram, versionOf } from './packages.ts';
import { judgeSelfUpgrade } from './self-upgrade.ts';
import type { StoreBehaviour } from './store-package.ts';
import { waitUntil, type SupervisedDaemon, type SupervisionOptions } from './supervised-daemon.ts';

/** How a job came out, as the daemon says. */
export interface Outcome {
  state: TaskStatus['state'];
  log: string;
  error: string;
  /** Whether somebody destroyed the records of uploads meanwhile. */
  hasLostUploads: boolean;
}

/** One kind of job: what is there before it, how it begins, and what must be true after it. */
export interface Scenario {
  readonly kind: string;
  /** The state of the device that it begins with. */
  readonly state: 'listed' | 'installed' | 'uploaded' | `newer store ${StoreBehaviour}`;
  readonly feed: FeedVersion;
  /** How the newest version of the daemon's own package behaves, if the feed has it. */
  readonly store?: StoreBehaviour;
  readonly supervision?: Partial<SupervisionOptions>;
  readonly lane: 'package' | 'container';
  readonly submit: (
    bench: Bench,
    daemon: SupervisedDaemon,
  ) => ReturnType<SupervisedDaemon['submit']>;
  /** Contradictions between what the daemon says and what is on the device. */
  readonly judge: (bench: Bench, outcome: Outcome) => Promise<string[]>;
}

const operation =
  (name: string, form?: Record<string, string>): Scenario['submit'] =>
  (_, daemon) =>
    daemon.submit(name, form);

export const SCENARIOS: readonly Scenario[] = [
  {
    kind: 'install',
    state: 'listed',
    feed: 1,
    lane: 'package',
    submit: operation('install', { package: 'numbered' }),
    judge: (bench, outcome) => judgeArrival(bench, outcome, NUMBERED),
  },
  {
    kind: 'remove',
    state: 'installed',
    feed: 1,
    lane: 'package',
    submit: operation('remove', { package: 'numbered' }),
    judge: judgeRemoval,
  },
  {
    kind: 'upgrade',
    state: 'installed',
    feed: 2,
    lane: 'package',
    submit: operation('upgrade', { package: 'numbered' }),
    judge: judgeUpgrade,
  },
  {
    kind: 'autoconf',
    state: 'installed',
    feed: 1,
    lane: 'package',
    submit: operation('autoconf', { package: 'numbered' }),
    judge: async (bench) => problemsOfVersions(bench, NUMBERED),
  },
  {
    kind: 'update',
    state: 'listed',
    feed: 2,
    lane: 'package',
    submit: operation('update'),
    judge: judgeUpdate,
  },
  {
    kind: 'upload .ipk',
    state: 'listed',
    feed: 1,
    lane: 'package',
    submit: (_, daemon) => daemon.upload('uploaded.ipk', createIpk(UPLOADED).bytes),
    judge: judgeUpload,
  },
  {
    kind: 'upload .run',
    state: 'listed',
    feed: 1,
    lane: 'package',
    submit: async (bench, daemon) => {
      const file = join(bench.folder, 'uploaded.ipk');
      await writeFile(file, createIpk(UPLOADED).bytes);
      return daemon.upload('x.run', Buffer.from(uploadedProgram(file, bench.device.root)));
    },
    judge: judgeUpload,
  },
  {
    kind: 'migrate',
    state: 'listed',
    feed: 1,
    lane: 'container',
    submit: (bench, daemon) =>
      daemon.submit('docker_migrate', { path: bench.containers?.target ?? '' }),
    judge: async ({ containers, device }, { state }) =>
      (await containers?.judge(device.root, state === 'done')) ?? [],
  },
  ...(['answers', 'ends at once'] as const).map((store): Scenario => ({
    kind: `self-upgrade to one that ${store}`,
    state: `newer store ${store}`,
    feed: 2,
    store,
    supervision: { isPackage: true },
    lane: 'package',
    submit: operation('do_self_upgrade'),
    judge: ({ device }, outcome) => judgeSelfUpgrade(device, outcome, store),
  })),
  {
    kind: 'unrun',
    state: 'uploaded',
    feed: 1,
    lane: 'package',
    submit: async (bench, daemon) => {
      const [id = ''] = await recordIds(bench);
      return daemon.submit('unrun', { id });
    },
    judge: async (bench, outcome) => {
      const { state } = outcome;
      const isThere = (await presentNames(bench)).includes('uploaded');
      const hasRecord = (await recordIds(bench)).length > 0;
      if (state === 'done') {
        return isThere || hasRecord ? ['undone, and yet the package or its record is there'] : [];
      }
      return isThere && !hasRecord && !isReported(outcome)
        ? ['the record went, the package stayed']
        : [];
    },
  },
];

export const NUMBERED = ['numbered', 'app-meta-numbered', 'libnumbered'];

/** What came with a job is there as a whole when it is done, and not at all when it is not. */
async function judgeArrival(bench: Bench, outcome: Outcome, names: string[]): Promise<string[]> {
  const { state } = outcome;
  const present = await presentNames(bench);
  const found = names.filter((name) => present.includes(name));
  const problems = await problemsOfVersions(bench, names);
  if (state === 'done' && found.length < names.length) {
    problems.push(`done, but of ${names.join(', ')} only ${found.join(', ')} is installed`);
  }
  if (state !== 'done' && found.length > 0 && !isReported(outcome)) {
    problems.push(`${state}, but ${found.join(', ')} is installed`);
  }
  return problems;
}

async function judgeRemoval(bench: Bench, outcome: Outcome): Promise<string[]> {
  const { state } = outcome;
  const present = await presentNames(bench);
  const left = NUMBERED.slice(0, 2).filter((name) => present.includes(name));
  const problems = await problemsOfVersions(bench, NUMBERED);
  if (state === 'done' && left.length > 0) problems.push(`done, but ${left.join(', ')} is there`);
  if (
    state !== 'done' &&
    left.length === 1 &&
    left[0] === 'app-meta-numbered' &&
    !isReported(outcome)
  ) {
    problems.push(`${state}, and only the half of the app is there: ${left.join(', ')}`);
  }
  return problems;
}

async function judgeUpgrade(bench: Bench, { state }: Outcome): Promise<string[]> {
  const problems = await problemsOfVersions(bench, NUMBERED);
  const database = await bench.device.database();
  for (const name of NUMBERED.slice(0, 2)) {
    const version = database.get(name)?.version;
    if (version === undefined) problems.push(`${state}, and ${name} is gone`);
    else if (state === 'done' && version !== versionOf(2)) {
      problems.push(`done, but ${name} stays at ${version}`);
    }
  }
  return problems;
}

/** The program of a package says its version, so that a file of another one shows. */
async function problemsOfVersions(bench: Bench, names: readonly string[]): Promise<string[]> {
  const { version } = (await bench.device.database()).get('numbered') ?? {};
  const text = await bench.device.read('usr/bin/numbered');
  if (!names.includes('numbered')) return [];
  if (version === undefined) {
    return text === undefined ? [] : ['usr/bin/numbered is there, but no package has it'];
  }
  return text?.includes(`echo numbered ${version}\n`) === true
    ? []
    : [`usr/bin/numbered is not that of version ${version}: ${text?.slice(0, 60) ?? 'gone'}`];
}

async function judgeUpdate(bench: Bench, { state }: Outcome): Promise<string[]> {
  const lists = join(bench.device.root, 'tmp/opkg-lists');
  const names = await readdir(lists).catch(() => []);
  const list = names.find((name) => !name.includes('.'));
  if (list === undefined) {
    return state === 'done' ? ['done, but there is no list'] : ['the list is gone'];
  }
  const { code, stdout } = await bench.device.opkg('list', 'numbered');
  const version = /numbered - (\S+)/.exec(stdout)?.[1];
  if (code !== 0 || version === undefined) return [`the list ${list} cannot be read`];
  return state === 'done' && version !== versionOf(2) ? [`done, but the list has ${version}`] : [];
}

async function judgeUpload(bench: Bench, outcome: Outcome): Promise<string[]> {
  const problems = await judgeArrival(bench, outcome, ['uploaded']);
  const records = await recordIds(bench);
  const isRecorded = records.length === 1 || (records.length === 0 && outcome.hasLostUploads);
  if (outcome.state === 'done' && !isRecorded) problems.push('done without a run record');
  // Of a package that could not be taken away again the record stays, so that it can be undone.
  if (outcome.state !== 'done' && records.length > 0 && !isReported(outcome)) {
    problems.push(`${outcome.state} with a record`);
  }
  // One that a read-only disk kept is tried again every 5 s.
  if (!(await waitUntil(async () => (await waitingUploads(bench)).length === 0, 15_000))) {
    problems.push(`the upload ${(await waitingUploads(bench)).join(', ')} stays behind`);
  }
  return problems;
}

async function waitingUploads({ device }: Bench): Promise<string[]> {
  const names = await readdir(join(device.root, 'tmp/depotd')).catch((): string[] => []);
  return names.filter((name) => /\.(ipk|run)$/.test(name));
}

/** The daemon says what it could not put right, in the log or, where that is full, in the error. */
function isReported({ log, error }: Outcome): boolean {
  return (
    /could not be put right|stays as opkg left it/.test(log) || /the repair failed: /.test(error)
  );
}

async function presentNames(bench: Bench): Promise<string[]> {
  return [...(await bench.device.database())]
    .filter(([, { state }]) => state !== 'not-installed')
    .map(([name]) => name);
}

async function recordIds(bench: Bench): Promise<string[]> {
  const text = await bench.device.read('etc/depotd/run-records.json');
  return Array.from((text ?? '').matchAll(/"id":\s*"([0-9a-f-]+)"/g), ([, id = '']) => id);
}
