import * as v from 'valibot';
import { DepotError } from '../errors.ts';

/**
 * What the steps of a job leave for those behind them and for its repair. It is saved with the job
 * when the step that wrote it is done. Each value has a name, a schema and one owner: whoever makes
 * its slots. Nobody else reads or writes a job's memory.
 */
export interface Slots<Value extends object> {
  /** @returns undefined if there is no such value: the job has not come so far */
  find: (from: Remembering) => Value | undefined;
  /** @throws DepotError internal if there is no such value */
  read: (from: Remembering) => Value;
  /** What is not named stays as it is. */
  write: (to: Remembering, more: Partial<Value>) => void;
}

/** A step's context, or a job. */
export interface Remembering {
  memory: object;
}

/** Which object of the memory holds the slots; default: the memory itself. */
export interface Scope {
  forReading: (memory: Content) => Content;
  forWriting: (memory: Content) => Content;
}

export type Content = Record<string, unknown>;

const WHOLE: Scope = { forReading: (memory) => memory, forWriting: (memory) => memory };

/** @param owner what they are the record of, as it stands in messages: `the move` */
export function slots<Entries extends v.ObjectEntries>(
  owner: string,
  entries: Entries,
  scope: Scope = WHOLE,
): Slots<v.InferOutput<v.ObjectSchema<Entries, undefined>>> {
  const schema = v.object(entries);
  const find: Slots<v.InferOutput<typeof schema>>['find'] = ({ memory }) => {
    const found = v.safeParse(schema, scope.forReading(memory as Content));
    return found.success ? found.output : undefined;
  };
  return {
    find,
    read: (from) => {
      const found = find(from);
      if (found !== undefined) return found;
      throw new DepotError('internal', `cannot go on: the record of ${owner} is damaged`);
    },
    write: ({ memory }, more) => {
      Object.assign(scope.forWriting(memory as Content), more);
    },
  };
}
