import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { replaceFile } from '../../../device/durable-file.ts';
import { reasonOf } from '../../../errors.ts';
import type { StepContext } from '../../../jobs/plan.ts';
import { withLock } from '../changing/lock.ts';
import { scriptsFile } from '../database/record-file.ts';
import { readWhole } from '../database/soundness.ts';
import type { Installation } from '../installation.ts';
import { hasPowerGone } from './recovery.ts';

/** Mode with which apk writes its records. */
const MODE = 0o644;

/**
 * Puts back apk's records as they were before the job, if a power cut left them empty, full of
 * zeros or in parts: UBIFS knows the names that apk gave them before it has their bytes. apk
 * refuses such records, or takes them at their word. All of them, since apk replaces them together:
 * what it did counts as not recorded then. Records that can be read stay, whatever they say: others
 * may have changed packages since the boot.
 */
export async function returnRecords(
  { reader, copy, locations, environment }: Installation,
  context: StepContext,
): Promise<void> {
  if (!hasPowerGone(context)) return;
  const findFault = () => readWhole(locations, reader).then(() => undefined, reasonOf);
  if ((await findFault()) === undefined) return;
  await withLock(locations.lock, environment, async () => {
    const why = await findFault();
    const before = await copy.database().catch(() => undefined);
    if (why === undefined || before === undefined) return;
    // The record last: a cut in between finds it damaged again.
    const { world, triggers, installed } = locations;
    const files = [world, await scriptsFile(locations), triggers, installed];
    for (const file of files) {
      const kept = await readFile(join(copy.folder, basename(file))).catch(() => undefined);
      if (kept !== undefined) await replaceFile(file, kept, MODE);
    }
    await context.note(`${why}: the records from before the job are put back`);
  });
}
