import * as v from 'valibot';
import type { Notes } from '../../device/ports.ts';

/** A restore that is to be brought to its end, over power cuts and firmware upgrades. */
export interface RestoreDue {
  isDue: () => Promise<boolean>;
  remember: (due: DueParams) => Promise<void>;
  forget: () => Promise<void>;
  /** The backup of one that was tried too often: it is not begun any more. */
  givenUp: () => Promise<string | undefined>;
  /** A backup has been removed: what was to come back from it is not to come any more. */
  giveUp: (backup: string) => Promise<void>;
  /** @returns what to go on with; undefined: nothing, or it was tried too often. Counts as a try */
  next: () => Promise<DueParams | undefined>;
  /** The last one was no try: the network was not there. */
  forgive: () => Promise<void>;
}

export interface DueParams {
  backup: string;
  as?: string;
}

/** The script that runs after a firmware upgrade writes it, too. */
const NOTE = 'restore-due';
export const MOST_TRIES = 5;

const schema = v.object({
  backup: v.string(),
  as: v.optional(v.string()),
  tries: v.optional(v.number(), 0),
});

export function createRestoreDue(notes: Notes): RestoreDue {
  const read = async (): Promise<v.InferOutput<typeof schema> | undefined> => {
    const found = v.safeParse(schema, await notes.read(NOTE));
    return found.success ? found.output : undefined;
  };
  return {
    isDue: async () => (await read()) !== undefined,
    remember: async (due) => {
      const known = await read();
      const tries = known?.backup === due.backup ? known.tries : 0;
      await notes.write(NOTE, { ...due, tries });
    },
    forget: async () => {
      if ((await read()) !== undefined) await notes.write(NOTE, null);
    },
    givenUp: async () => {
      const found = await read();
      return found !== undefined && found.tries >= MOST_TRIES ? found.backup : undefined;
    },
    giveUp: async (backup) => {
      if ((await read())?.backup === backup) await notes.write(NOTE, null);
    },
    next: async () => {
      const found = await read();
      if (found === undefined) return undefined;
      const { backup, as, tries } = found;
      if (tries >= MOST_TRIES) return undefined;
      await notes.write(NOTE, { ...found, tries: tries + 1 });
      return { backup, ...(as === undefined ? {} : { as }) };
    },
    forgive: async () => {
      const found = await read();
      if (found === undefined || found.tries === 0) return;
      await notes.write(NOTE, { ...found, tries: found.tries - 1 });
    },
  };
}
