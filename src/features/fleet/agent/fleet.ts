import { nowMs } from '../clock.ts';
import type { DeviceCheck } from '../../device-check.ts';
import type { FeatureContext } from '../../feature.ts';
import type { PackageManager } from '../../../package-management/manager.ts';
import type { DdiClient } from '../ddi/ddi-client.ts';
import type { Address } from '../ddi/links.ts';
import type { Deployment, Poll } from '../ddi/ddi-schemas.ts';
import type { FleetSettings } from '../options.ts';
import type { ActionRecord } from '../records/action-record.ts';
import type { Downloads } from '../records/downloads.ts';
import type { ActionRecords } from '../records/action-records.ts';

/** What the agent of one server works with. */
export interface Fleet extends Pick<
  FeatureContext,
  'queue' | 'submit' | 'logs' | 'log' | 'paths' | 'notes' | 'processes' | 'scriptEnvironment'
> {
  settings: () => FleetSettings;
  manager: PackageManager;
  records: ActionRecords;
  /** What the doctor asks. */
  checks: () => Promise<readonly DeviceCheck[]>;
  /** Bound for the files of one action, in MiB. */
  maxDownloadMb: () => number;
  downloads: Downloads;
  known: Known;
  /** A connection of its own, for work that goes on beside the exchanges. */
  connect: (
    settings?: FleetSettings,
    limits?: { answerMs?: number; token?: string | undefined },
  ) => Promise<Server>;
  /** Has the next exchange begin at once. */
  wake: () => void;
  /** Has it begin when a download is to be tried again, if that is before the next poll. */
  replan: () => void;
}

/** The server, for as long as one exchange lasts. */
export interface Server {
  client: DdiClient;
  address: Address;
  /** The server's address, as `addressKey` makes it. */
  from: string;
}

/** When an action may do what, as the server said last. */
export type Urgency = Pick<Deployment, 'download' | 'update' | 'maintenanceWindow'>;

/** What is known of the server and of the action under way; lost with the daemon. */
export interface Known {
  /** The server whose words they are, as `addressKey` makes it. */
  from?: string | undefined;
  etag?: string | undefined;
  links: NonNullable<Poll['_links']>;
  /** The interval between polls, in seconds. */
  intervalS?: number | undefined;
  /** Polls in a row that failed. */
  failures: number;
  lastError?: string | undefined;
  /** The last good poll, and the next one, by `nowMs`. */
  polledMs?: number | undefined;
  nextPollMs?: number | undefined;
  /** What is behind the link of the action that is offered: it is asked for once. */
  offered?: Offered | undefined;
  transfer?: Transfer | undefined;
  fetchFailure?: FetchFailure | undefined;
  /** The key of the action whose owner is asked. */
  asking?: string | undefined;
  /** The key of the action whose files are here, whole. */
  fetched?: string | undefined;
  /** Notices sent in this run of the daemon, by the key of the action. */
  notices: Map<string, Notices>;
  /** Id of an action that had ended at the server before this device sent its end. */
  endedBefore?: string | undefined;
  /** What was sent last of the device itself. */
  attributes?: { from: string; hash: string } | undefined;
  /** When that was looked at last (by `nowMs`), and the drift that was found. */
  looked?: { from: string; drift: string; atMs: number } | undefined;
  counts: Counts;
  /** Free bytes for packages, at the last exchange. */
  freeBytes?: number | undefined;
}

export interface Offered extends Urgency {
  href: string;
  key: string;
  /** Links of the artifacts, by SHA-256. */
  sources: ReadonlyMap<string, string>;
}

export interface Transfer {
  key: string;
  controller: AbortController;
  /** Bytes that are here, and in all. */
  doneBytes: number;
  totalBytes: number;
}

/** Downloads of an action's files have failed; moments by `nowMs`. */
export interface FetchFailure {
  key: string;
  reason: string;
  firstMs: number;
  /** The download is not tried again before. */
  againMs: number;
}

export interface Notices {
  /** What was said already, and is not said twice. */
  said: Set<string>;
  /** What was collected and is still to be sent. */
  pieces?: string[][];
  /** Progress: how often, and when last (by `nowMs`). */
  posts: number;
  lastAt: number;
  lastText: string;
}

export interface Counts {
  polls: { ok: number; unchanged: number; failed: number };
  reports: Map<string, number>;
  downloadedBytes: number;
  mirrorFailures: number;
}

export function createKnown(): Known {
  return {
    links: {},
    failures: 0,
    notices: new Map(),
    counts: {
      polls: { ok: 0, unchanged: 0, failed: 0 },
      reports: new Map(),
      downloadedBytes: 0,
      mirrorFailures: 0,
    },
  };
}

/** Notices of two actions at most: one under way, and one that waits for it. */
export function noticesOf({ notices }: Known, { key }: Pick<ActionRecord, 'key'>): Notices {
  const found = notices.get(key) ?? { said: new Set(), posts: 0, lastAt: nowMs(), lastText: '' };
  notices.delete(key);
  notices.set(key, found);
  const [oldest = key] = notices.keys();
  if (notices.size > 2) notices.delete(oldest);
  return found;
}
