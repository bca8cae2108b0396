import * as v from 'valibot';
import type { Remembering } from '../../../jobs/memory.ts';
import { transactionSlots } from '../../memory.ts';
import { editStatus, packageIn } from '../database/status-paragraphs.ts';

/**
 * opkg calls a damaged package up to date, and made to install it again (`--force-reinstall`)
 * removes it before it has fetched it. For as long as its command runs the record has a version
 * below every other: opkg then upgrades it, which fetches first.
 */
const LOWEST = '0';

/** The true versions, by name. */
const kept = transactionSlots('the versions', {
  lowered: v.optional(v.record(v.string(), v.string()), {}),
});

/** Keeps the true versions in the job. While nobody else writes the record. */
export async function lowerVersions(
  statusFile: string,
  context: Remembering,
  names: readonly string[],
): Promise<void> {
  const lowered: Record<string, string> = {};
  await editVersions(statusFile, (name, version) => {
    if (!names.includes(name) || version === LOWEST) return version;
    lowered[name] = version;
    return LOWEST;
  });
  kept.write(context, { lowered: { ...kept.read(context).lowered, ...lowered } });
}

/** Puts true versions back where opkg left the lowered ones; safe to be called again. */
export async function restoreVersions(statusFile: string, context: Remembering): Promise<void> {
  const { lowered } = kept.read(context);
  if (Object.keys(lowered).length === 0) return;
  await editVersions(statusFile, (name, version) =>
    version === LOWEST ? (lowered[name] ?? version) : version,
  );
}

async function editVersions(
  statusFile: string,
  edit: (name: string, version: string) => string,
): Promise<void> {
  await editStatus(statusFile, (paragraph) =>
    paragraph.replace(
      /^Version: (.*)$/m,
      (_, version: string) => `Version: ${edit(packageIn(paragraph), version)}`,
    ),
  );
}
