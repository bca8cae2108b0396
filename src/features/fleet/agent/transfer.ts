import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { DepotError, reasonOf } from '../../../errors.ts';
import { sizeText } from '../../../format-bytes.ts';
import { failureFacts } from '../../../jobs/explanation.ts';
import { unixNow } from '../../../jobs/job.ts';
import { timeLimit } from '../../../device/command.ts';
import { isOpen, type ActionRecord } from '../records/action-record.ts';
import { fleetFailure } from '../failures.ts';
import type { OpenSource } from '../records/downloads.ts';
import { downloadsOf, type WantedFile, type Work } from '../rollout/work.ts';
import { EARLY_MS, pauseMs } from '../schedule.ts';
import { nowMs } from '../clock.ts';
import { createConnection } from '../ddi/connection.ts';
import { prefixOf } from '../ddi/links.ts';
import type { FleetSettings } from '../options.ts';
import type { State } from './decide.ts';
import type { Fleet, Known, Offered, Transfer } from './fleet.ts';

/** A download that fails so often, or for so long, ends its action. */
const MOST_FAILURES = 100;
const MOST_MS = 24 * 60 * 60_000;
/** A line that breaks is of use as long as each try brings that much. */
const USEFUL_BYTES = 64 * 1024;
/** Failures that another attempt changes nothing of. */
const FINAL = ['bad_request', 'too_large', 'no_space', 'forbidden'];
const MIB = 1024 ** 2;
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

/** @returns whether that ended the action */
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
  if (bytes <= mostMb * MIB) return;
  throw fleetFailure(
    'too_large',
    'not_allowed',
    `cannot do the action: its files have ${sizeText(bytes)}, and main.upload_max_mb is ${mostMb}`,
  );
}

function bytesIn(work: Work): number {
  return downloadsOf(work).reduce((sum, { bytes }) => sum + bytes, 0);
}

type Receive = (source: OpenSource, signal: AbortSignal) => Promise<void>;

/** A mirror that has failed so often is not asked for the files that are left of this try. */
const MOST_MIRROR_FAILURES = 2;
/** A mirror that is slower than that holds the rollout up: the origin is asked. */
const LEAST_BYTES_PER_S = 1024;
const MIRROR_START_MS = 60_000;
const MIRROR_ANSWER_MS = 20_000;
/** Failures of this device, which no other source would change. */
const OWN_FAILURES = ['no_space', 'forbidden'];

/**
 * Other hosts that have the files of actions as `MIRROR/SHA256`. They are sent neither the token
 * nor a client certificate, and are believed nothing: size and hash are the server's.
 */
async function openMirrors({ settings, log, known }: Fleet) {
  const { mirrors } = settings();
  const tls = mirrors.length === 0 ? {} : await tlsFor(settings());
  const all = mirrors.map((mirror) => ({
    mirror,
    failures: 0,
    connection: createConnection(mirror, { tls }, MIRROR_ANSWER_MS),
  }));
  return {
    /** Tries each mirror, and leaves the rest to the origin. @returns whether it is here */
    fetch: async (file: WantedFile, signal: AbortSignal, work: Receive): Promise<boolean> => {
      const limitMs = MIRROR_START_MS + Math.ceil(file.bytes / LEAST_BYTES_PER_S) * 1000;
      for (const each of all.filter(({ failures }) => failures < MOST_MIRROR_FAILURES)) {
        const bounded = AbortSignal.any([signal, timeLimit(limitMs)]);
        const path = `${prefixOf(each.mirror)}/${file.sha256}`;
        try {
          await work((from) => each.connection.open(path, from, bounded), bounded);
          return true;
        } catch (error) {
          const isOwn = error instanceof DepotError && OWN_FAILURES.includes(error.code);
          if (signal.aborted || isOwn) throw error;
          each.failures += 1;
          known.counts.mirrorFailures += 1;
          log.info({ mirror: each.mirror, reason: reasonOf(error) }, 'fleet mirror failed');
        }
      }
      return false;
    },
    close: (): void => all.forEach(({ connection }) => connection.close()),
  };
}

/** TLS of mirrors, by the owner's authority or any other: what comes is known by its hash. */
async function tlsFor({ ca_file: own }: FleetSettings): Promise<{ ca?: string[] }> {
  const text = own === '' ? '' : await readFile(own, 'utf8').catch(() => '');
  return text === '' ? {} : { ca: [...rootCertificates, text] };
}
