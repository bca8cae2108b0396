import { DepotError, reasonOf } from '../../../errors.ts';
import { sizeText } from '../../../format-bytes.ts';
import { failureFacts } from '../../../jobs/explanation.ts';
import { unixNow } from '../../../jobs/job.ts';
import { isOpen, type ActionRecord } from '../records/action-record.ts';
import { fleetFailure } from '../failures.ts';
import type { OpenSource } from '../records/downloads.ts';
import { downloadsOf, type Work } from '../rollout/work.ts';
import { EARLY_MS, pauseMs } from '../schedule.ts';
import { nowMs } from '../clock.ts';
import type { State } from './decide.ts';
import type { Fleet, Known, Offered, Transfer } from './fleet.ts';
import { openMirrors } from './mirrors.ts';

/** A download that fails so often, or for so long, ends its action. */
const MOST_FAILURES = 100;
const MOST_MS = 24 * 60 * 60_000;
/** A line that breaks is of use as long as each try brings that much. */
const USEFUL_BYTES = 64 * 1024;
/** Failures that another attempt changes nothing of. */
const FINAL = ['bad_request', 'too_large', 'no_space', 'forbidden'];
/** A lower limit would pause for longer between pieces than a connection may be silent. */
const LEAST_KIB_S = 8;

/**
 * Fetches the files of an action beside the exchanges, so that a request to cancel is heard
 * meanwhile, and no other job waits for a slow line. The next exchange begins when it has ended;
 * after a failure there is a pause as after a poll that failed.
 */
export function startTransfer(
  fleet: Fleet,
  record: ActionRecord,
  offered: Offered | undefined,
): void {
  const { known, log } = fleet;
  const { key, work } = record;
  if (work === undefined || offered === undefined || known.transfer !== undefined) return;
  const totalBytes = bytesIn(work);
  const transfer: Transfer = { key, controller: new AbortController(), doneBytes: 0, totalBytes };
  known.transfer = transfer;
  const run = async (): Promise<boolean> => {
    const bytesBefore = await bytesOf(fleet, work);
    try {
      await transferAll(fleet, { work, offered, transfer });
      Object.assign(known, { fetched: key, fetchFailure: undefined });
      return true;
    } catch (error) {
      if (transfer.controller.signal.aborted) return true;
      const hasGained = (await bytesOf(fleet, work)) - bytesBefore >= USEFUL_BYTES;
      return recordFailure(fleet, key, { error, hasGained });
    }
  };
  void run()
    .catch((error: unknown) => log.error({ reason: reasonOf(error) }, 'fleet record not written'))
    .then((isOver) => {
      known.transfer = undefined;
      if (isOver === true) fleet.wake();
      else fleet.replan();
    });
}

async function bytesOf({ downloads }: Fleet, work: Work): Promise<number> {
  let bytes = 0;
  for (const file of downloadsOf(work)) bytes += await downloads.size(file);
  return bytes;
}

/** Records a download that failed. @returns whether that ended the action */
async function recordFailure(
  { known, log, records }: Fleet,
  key: string,
  { error, hasGained }: { error: unknown; hasGained: boolean },
): Promise<boolean> {
  const { error: message, errorCode } = failureFacts(error);
  log.warn({ action: records.find(key)?.actionId, reason: message }, 'fleet download failed');
  known.lastError = message;
  const before = records.find(key)?.fetchFailures ?? 0;
  const fetchFailures = hasGained ? 1 : before + 1;
  const schedule = { intervalS: undefined, mostS: Infinity, failures: fetchFailures };
  const pause = pauseMs(schedule, Math.random);
  const { firstMs } = known.fetchFailure?.key === key ? known.fetchFailure : { firstMs: nowMs() };
  known.fetchFailure = { key, reason: message, firstMs, againMs: nowMs() + pause };
  const isFinal = error instanceof DepotError && FINAL.includes(error.code);
  const isOver = isFinal || fetchFailures >= MOST_FAILURES || nowMs() - firstMs >= MOST_MS;
  const end = { result: 'failure', message, errorCode, at: unixNow() } as const;
  await records.update(key, { fetchFailures, ...(isOver && { end }) });
  return isOver;
}

/** Why the files of an action did not come, and whether it is too early to try again. */
export function fetchFailureOf({ fetchFailure }: Known, key: string): State['fetchFailure'] {
  if (fetchFailure?.key !== key) return undefined;
  const { reason, againMs } = fetchFailure;
  return { reason, isTooEarly: againMs - nowMs() > EARLY_MS };
}

/** Removes the files of actions that are over: they lie in memory. */
export async function tidyDownloads({ downloads, records }: Fleet): Promise<void> {
  const isKept = (record: ActionRecord): boolean =>
    isOpen(record) || record.end?.result === 'downloaded';
  const works = records
    .all()
    .filter(isKept)
    .map(({ work }) => work);
  const files = works.flatMap((work) => (work === undefined ? [] : downloadsOf(work)));
  await downloads.keepOnly(new Set(files.map(({ sha256 }) => sha256)));
}

async function transferAll(
  fleet: Fleet,
  { work, offered, transfer }: { work: Work; offered: Offered; transfer: Transfer },
): Promise<void> {
  const { downloads, connect, known } = fleet;
  await tidyDownloads(fleet);
  const { client } = await connect();
  const mirrors = await openMirrors(fleet);
  try {
    for (const file of downloadsOf(work)) {
      const link = offered.sources.get(file.sha256);
      if (link === undefined) {
        throw new DepotError('bad_request', `cannot download ${file.label}: it has no link`);
      }
      const { signal } = transfer.controller;
      const { doneBytes } = transfer;
      const onProgress = (bytes: number): void => void (transfer.doneBytes = doneBytes + bytes);
      const { download_kib_s: limit } = fleet.settings();
      const bytesPerS = limit === 0 ? 0 : Math.max(limit, LEAST_KIB_S) * 1024;
      const most = { onProgress, bytesPerS };
      const isHere = await mirrors.fetch(file, signal, (source, bounded) =>
        downloads.fetch(file, source, { ...most, signal: bounded }),
      );
      const source: OpenSource = (from) => client.download(link, from, signal);
      if (!isHere) await downloads.fetch(file, source, { ...most, signal });
      transfer.doneBytes = doneBytes + file.bytes;
      known.counts.downloadedBytes += file.bytes;
    }
  } finally {
    client.close();
    mirrors.close();
  }
}

/** @throws DepotError too_large if the files have more than `main.upload_max_mb` together */
export function checkSizes(work: Work, mostMb: number): void {
  const bytes = bytesIn(work);
  if (bytes <= mostMb * 1024 ** 2) return;
  throw fleetFailure(
    'too_large',
    'not_allowed',
    `cannot do the action: its files have ${sizeText(bytes)}, and main.upload_max_mb is ${mostMb}`,
  );
}

function bytesIn(work: Work): number {
  return downloadsOf(work).reduce((sum, { bytes }) => sum + bytes, 0);
}
