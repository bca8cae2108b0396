import type { Parameters } from '../device/daemon.ts';
import type { FeedVersion } from '../device/packages/packages.ts';
import { CONFIRM } from './confirm.ts';
import { DAEMON } from './daemon-package.ts';
import { upload, type PowerDaemon } from './device.ts';
import { FIRMWARE } from './firmware.ts';
import { FIRMWARE_BY_ROLLOUT } from './firmware-rollout.ts';
import { FLEET } from './fleet.ts';
import { MOVE } from './move.ts';
import { APP, LIBRARY, SENT } from './packages.ts';
import { PASSWORD, SETTINGS } from './settings.ts';

/** Which version of a package is to be there when the job is done; none if it is removed. */
export type Expected = Readonly<Record<string, FeedVersion | undefined>>;

/** One kind of job whose power is cut. */
export interface Kind {
  /** What was done before, each to its end. */
  before?: readonly Step[];
  /** The version of the feed during the job. */
  feed: FeedVersion;
  job: Step;
  expected: Expected;
  /** Settings of the daemon. */
  set?: readonly string[];
  /** Whether the daemon is the one that is installed. */
  isInstalled?: boolean;
  /** Whether nobody is let in, so that nothing is asked for but the job itself. */
  isLocked?: boolean;
  /** What follows before the disk is ready, when the daemon has been stopped. */
  prepared?: () => Promise<void>;
  /** Starts all that the device starts by itself, in place of the daemon; the power is cut in it, too. */
  boot?: () => Promise<PowerDaemon>;
  /** About how long that takes. */
  lastsMs?: number;
  /** Files of packages that the owner changed. */
  changed?: readonly string[];
  /** Before each start of the daemon. */
  start?: (phase: string) => Promise<void>;
  /** What does not hold besides the packages, as sentences. */
  look?: (daemon: PowerDaemon, seen: Seen) => Promise<string[]>;
}

export interface Seen {
  state: string | undefined;
  /** Whether the job was done once more since. */
  isAgain: boolean;
}

/** @returns the id of the job's task; empty if it is done without one */
export type Step = (daemon: PowerDaemon) => Promise<string>;

const submit =
  (operation: string, params: Parameters = {}): Step =>
  (daemon) =>
    daemon.submit(operation, params);

const INSTALL = submit('install', { package: APP });

const undoUpload: Step = async (daemon) => {
  const records = (await (await daemon.get('admin/store/run_records')).json()) as {
    records: { id: string }[];
  };
  const [record] = records.records;
  // Taken again after it was done, there is no record any more.
  return record === undefined ? '' : daemon.submit('unrun', { id: record.id });
};

/** What is new is known from the lists, which are in memory. */
const selfUpgrade: Step = async (daemon) => {
  await daemon.finished(await daemon.submit('update'), 90_000);
  const check = await (await daemon.get('admin/store/check_self_upgrade')).json();
  const { code } = check as { code: number };
  return code === 304 ? '' : daemon.submit('do_self_upgrade');
};

export const KINDS: Readonly<Record<string, Kind>> = {
  install: { feed: 1, job: INSTALL, expected: { [APP]: 1, [LIBRARY]: 1 } },
  upgrade: {
    before: [INSTALL],
    feed: 2,
    job: submit('upgrade', { package: APP }),
    expected: { [APP]: 2 },
  },
  remove: {
    before: [INSTALL],
    feed: 1,
    job: submit('remove', { package: APP }),
    expected: { [APP]: undefined },
  },
  upload: { feed: 1, job: upload, expected: { [SENT]: 1 } },
  undo: { before: [upload], feed: 1, job: undoUpload, expected: { [SENT]: undefined } },
  update: {
    before: [INSTALL],
    feed: 2,
    job: submit('update'),
    expected: { [APP]: 1, [LIBRARY]: 1 },
  },
  'self-upgrade': {
    before: [submit('install', { package: DAEMON })],
    feed: 2,
    job: selfUpgrade,
    expected: { [DAEMON]: 2 },
    isInstalled: true,
  },
  move: MOVE,
  settings: SETTINGS,
  password: PASSWORD,
  fleet: FLEET,
  confirm: CONFIRM,
  ...FIRMWARE,
  'firmware-by-rollout': FIRMWARE_BY_ROLLOUT,
};
