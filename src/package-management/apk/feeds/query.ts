import { run } from '../../../device/exec.ts';
import { DepotError } from '../../../errors.ts';
import { LISTING_LIMITS } from '../../listing.ts';
import type { ApkCommands } from '../changing/commands.ts';
import { createObjectReader } from './json-objects.ts';

export interface Query {
  names: readonly string[];
  /** Separated by commas. */
  fields: string;
  /** Has each object, one for each package; false ends the query. */
  onObject: (object: unknown) => boolean;
  signal?: AbortSignal;
  /** `system`: with what is installed. Default: repositories. */
  from?: 'repositories' | 'system';
  /** Whether what apk printed until it failed will do; default true. */
  isPartialEnough?: boolean;
}

const LIMITS = { timeoutMs: 60_000, maxBytes: 2 * LISTING_LIMITS.listBytes };

/**
 * What apk knows of packages in its feeds' indexes, as it prints it.
 * @throws DepotError unavailable if apk fails, unless what it has printed will do
 */
export async function queryFeeds(
  { apk }: Pick<ApkCommands, 'apk'>,
  { names, fields, onObject, signal, from = 'repositories', isPartialEnough = true }: Query,
): Promise<void> {
  const stopping = new AbortController();
  signal?.addEventListener('abort', () => stopping.abort(), { once: true });
  let count = 0;
  const reader = createObjectReader(LISTING_LIMITS.paragraphBytes, (object) => {
    if (stopping.signal.aborted) return;
    count += 1;
    if (!onObject(object)) stopping.abort();
  });
  const command = apk(
    'query',
    ...['--format', 'json', '--from', from, '--all-matches', '--fields', fields],
    '--',
    ...names,
  );
  const { exitCode, stderr, cutShortBy } = await run(command, {
    ...LIMITS,
    signal: stopping.signal,
    onStdout: reader.write,
  });
  reader.end();
  const isAccepted = count > 0 && (isPartialEnough || stopping.signal.aborted);
  if (exitCode !== 0 && !isAccepted) {
    const cut =
      cutShortBy === undefined ? undefined : `apk was ended by its limit of ${cutShortBy}`;
    const reason = lastLine(stderr) ?? cut ?? `exit code ${exitCode ?? 'none'}`;
    throw new DepotError('unavailable', `cannot read what the feeds offer: ${reason}`);
  }
}

/** The last of its errors. */
function lastLine(text: string): string | undefined {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('ERROR:'))
    .at(-1);
}
