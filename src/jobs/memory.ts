import * as v from 'valibot';
import { DepotError } from '../errors.ts';

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

/**
 * What the steps of a job leave for those behind them and for its repair. It is saved with the job
 * when the step that wrote it is done. Each value has a name, a schema and one owner: whoever makes
 * its slots. Nobody else reads or writes a job's memory.
 * @param owner what they are the record of, as it stands in messages: `the move`
 */
export function slots<Entries extends v.ObjectEntries>(
  owner: string,
  entries: Entries,
  scope: Scope = WHOLE,
) {
  const schema = v.object(entries);
  type Value = v.InferOutput<typeof schema>;
  /** @returns undefined if there is no such value: the job has not come so far */
  const find = ({ memory }: Remembering): Value | undefined => {
    const found = v.safeParse(schema, scope.forReading(memory as Content));
    return found.success ? found.output : undefined;
  };
  return {
    find,
    /** @throws DepotError internal if there is no such value */
    read: (from: Remembering): Value => {
      const found = find(from);
      if (found !== undefined) return found;
      throw new DepotError('internal', `cannot go on: the record of ${owner} is damaged`);
    },
    /** Writes slots; one that is not named stays as it is. */
    write: ({ memory }: Remembering, more: Partial<Value>): void => {
      Object.assign(scope.forWriting(memory as Content), more);
    },
  };
}
