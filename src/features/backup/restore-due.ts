import * as v from 'valibot';
import type { Notes } from '../../device/ports.ts';

/** The script that runs after a firmware upgrade writes it, too. */
const NOTE = 'restore-due';
export const MOST_TRIES = 5;

const params = { backup: v.string(), as: v.exactOptional(v.string()) };
const schema = v.object({ ...params, tries: v.optional(v.number(), 0) });
type Due = v.InferOutput<typeof schema>;
type DueParams = Omit<Due, 'tries'>;

export type RestoreDue = ReturnType<typeof createRestoreDue>;

/** A restore that is to be brought to its end, over power cuts and firmware upgrades. */
export function createRestoreDue(notes: Notes) {
  const read = async (): Promise<Due | undefined> =>
    v.parse(v.fallback(v.optional(schema), undefined), await notes.read(NOTE));
  return {
    isDue: async (): Promise<boolean> => (await read()) !== undefined,
    remember: async (due: DueParams): Promise<void> => {
      const known = await read();
      const tries = known?.backup === due.backup ? known.tries : 0;
      await notes.write(NOTE, { ...due, tries });
    },
    /** @param backup if that is what was to come back; default: whatever was */
    forget: async (backup?: string): Promise<void> => {
      const found = await read();
      if (found !== undefined && (backup ?? found.backup) === found.backup) {
        await notes.write(NOTE, null);
      }
    },
    /** The backup of one that was tried too often: it is not begun any more. */
    givenUp: async (): Promise<string | undefined> => {
      const found = await read();
      return found !== undefined && found.tries >= MOST_TRIES ? found.backup : undefined;
    },
    /** @returns what to go on with, which counts as a try; undefined: nothing, or too many tries */
    next: async (): Promise<DueParams | undefined> => {
      const found = await read();
      if (found === undefined || found.tries >= MOST_TRIES) return undefined;
      const { tries, ...due } = found;
      await notes.write(NOTE, { ...due, tries: tries + 1 });
      return due;
    },
    /** The last try of the restore does not count: the network was not there. */
    forgive: async (): Promise<void> => {
      const found = await read();
      if (found === undefined || found.tries === 0) return;
      await notes.write(NOTE, { ...found, tries: found.tries - 1 });
    },
  };
}
