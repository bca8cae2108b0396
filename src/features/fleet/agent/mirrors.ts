import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { DepotError, reasonOf } from '../../../errors.ts';
import { timeLimit } from '../../../device/command.ts';
import { createConnection } from '../ddi/ddi-connection.ts';
import { prefixOf } from '../ddi/links.ts';
import type { FleetSettings } from '../options.ts';
import type { OpenSource } from '../records/downloads.ts';
import type { WantedFile } from '../rollout/work.ts';
import type { Fleet } from './fleet.ts';

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
export async function openMirrors({ settings, log, known }: Fleet) {
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
