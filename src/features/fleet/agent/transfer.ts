import { DepotError, reasonOf } from '../../../errors.ts';
import { sizeText } from '../../../format-bytes.ts';
import { failureFacts } from '../../../jobs/explanation.ts';
import { unixNow } from '../../../jobs/job.ts';
import type { ActionRecord } from '../records/action-record.ts';
import { isOpen } from '../records/action-record.ts';
import { downloadsOf, type Work } from '../rollout/work.ts';
import type { Fleet, Offered, Transfer } from './fleet.ts';

/** Failures that another attempt changes nothing of. */
const FINAL = ['bad_request', 'too_large', 'no_space', 'forbidden'];
const MIB = 1024 ** 2;

/**
 * Fetches the files of an action beside the exchanges, so that a request to cancel is heard
 * meanwhile, and no other job waits for a slow line. The next exchange begins when it has ended.
 */
export function startTransfer(fleet: Fleet, record: ActionRecord, offered: Offered): void {
  const { known, log, records } = fleet;
  const { key, work } = record;
  if (work === undefined || known.transfer !== undefined) return;
  const totalBytes = downloadsOf(work).reduce((sum, { bytes }) => sum + bytes, 0);
  const transfer: Transfer = { key, controller: new AbortController(), doneBytes: 0, totalBytes };
  known.transfer = transfer;
  const fail = async (error: unknown): Promise<void> => {
    if (transfer.controller.signal.aborted) return;
    log.warn({ action: record.actionId, reason: reasonOf(error) }, 'fleet download failed');
    known.lastError = reasonOf(error);
    if (!(error instanceof DepotError && FINAL.includes(error.code))) return;
    const { error: message, errorCode } = failureFacts(error);
    await records.update(key, () => ({
      end: { result: 'failure', message, errorCode, at: unixNow() },
    }));
  };
  void transferAll(fleet, { work, offered, transfer })
    .then(() => void (known.fetched = key), fail)
    .catch((error: unknown) => log.error({ reason: reasonOf(error) }, 'fleet record not written'))
    .finally(() => {
      known.transfer = undefined;
      fleet.wake();
    });
}

async function transferAll(
  fleet: Fleet,
  { work, offered, transfer }: { work: Work; offered: Offered; transfer: Transfer },
): Promise<void> {
  const { downloads, records, connect, known } = fleet;
  await downloads.keepOnly(
    new Set(
      records
        .all()
        .filter((record) => isOpen(record) || record.end?.result === 'downloaded')
        .flatMap((record) => (record.work === undefined ? [] : downloadsOf(record.work)))
        .map(({ sha256 }) => sha256),
    ),
  );
  const { client } = await connect();
  try {
    for (const file of downloadsOf(work)) {
      const link = offered.sources.get(file.sha256);
      if (link === undefined) throw noLink(file.label);
      const { signal } = transfer.controller;
      await downloads.fetch(file, (from) => client.download(link, from, signal), signal);
      transfer.doneBytes += file.bytes;
      known.counts.downloadedBytes += file.bytes;
    }
  } finally {
    client.close();
  }
}

function noLink(label: string): DepotError {
  return new DepotError('bad_request', `cannot download ${label}: it has no link`);
}

/** @throws DepotError too_large if the files have more than `main.upload_max_mb` together */
export function checkSizes(work: Work, mostMb: number): void {
  const bytes = downloadsOf(work).reduce((sum, file) => sum + file.bytes, 0);
  if (bytes <= mostMb * MIB) return;
  throw new DepotError(
    'too_large',
    `cannot do the action: its files have ${sizeText(bytes)}, and main.upload_max_mb is ${mostMb}`,
  );
}
