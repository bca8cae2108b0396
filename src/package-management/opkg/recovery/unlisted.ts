import { mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Command } from '../../../device/command.ts';
import { freeBytesOf } from '../../../device/disk/space.ts';
import { isPrivateFolder } from '../../../device/private-folder.ts';
import { reasonOf } from '../../../errors.ts';
import { plainAct, plainCommand, type Step, type StepContext } from '../../../jobs/plan.ts';
import { transactionSlots } from '../../transaction-slots.ts';
import type { Installation } from '../installation.ts';
import { filesInIpk } from '../package-file/ipk-file.ts';
import { removeUnowned } from './orphaned-files.ts';

/**
 * A power cut may leave the files of a package that is in no record, and empty the list of them,
 * too: which they are is then known from the package alone, which is fetched once more.
 */
export function unlistedSteps(
  { infoDir, destination }: Pick<Installation, 'infoDir' | 'destination'>,
  opkg: (...args: string[]) => Command,
): Step[] {
  return [
    plainCommand('fetch-unlisted', 'fetch unlisted', async (context) => {
      const { unlisted: names } = unlisted.read(context);
      if (names.length === 0) return undefined;
      const cwd = folderOf(context.job);
      await rm(cwd, { recursive: true, force: true });
      await mkdir(cwd, { mode: 0o700 });
      return { ...opkg('download', '--', ...names), cwd };
    }),
    plainAct('remove-unlisted', 'remove unlisted', async (context) => {
      const { job, note } = context;
      const { unlisted: names } = unlisted.read(context);
      if (names.length === 0) return undefined;
      const folder = folderOf(job);
      const since = job.startedAt ?? job.createdAt;
      // The memory is everybody's: another one's folder of that name says nothing.
      const isOwn = await isPrivateFolder(folder);
      const files = isOwn ? await readdir(folder).catch(() => []) : [];
      const fetched = files.filter((file) => file.endsWith('.ipk'));
      try {
        const mostBytes = await freeBytesOf(destination);
        for (const file of fetched) {
          const inside = await filesInIpk(join(folder, file), mostBytes);
          await removeUnowned({ infoDir, destination, since }, inside);
        }
      } catch (error) {
        await note(reasonOf(error));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
      await note(
        fetched.length < names.length
          ? `files of ${names.join(', ')} may be left: install it again, then remove it`
          : `files of ${names.join(', ')} that are in no record are removed`,
      );
    }),
  ];
}

/** Packages in no record whose list names nothing. */
export const unlisted = transactionSlots('the files in no record', {
  unlisted: v.optional(v.array(v.string()), []),
});

/** In memory on most devices. The id is nobody's to guess. */
function folderOf({ id }: StepContext['job']): string {
  return join(tmpdir(), `depotd-unlisted-${id}`);
}
