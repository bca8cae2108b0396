import { join } from 'node:path';

const MOVE_NAME = '.depotd-move';
const DONE_NAME = '.depotd-done';

/** Begins the name of a copy that an engine worked with: its containers' data is nowhere else. */
export const LEFT_PREFIX = '.depotd-left-';

/** At the top of a data root, and no part of it: mke2fs makes the first on every new disk. */
export const KEPT_OUT = ['lost+found', MOVE_NAME, DONE_NAME, `${LEFT_PREFIX}*`];

/** What a move that is under way has in its target. */
export function moveFolder(target: string) {
  const folder = join(target, MOVE_NAME);
  return {
    folder,
    /** The working folder after the move has succeeded: what is in it is only to be removed. */
    done: join(target, DONE_NAME),
    /** The copy, until it is put in place. */
    copy: join(folder, 'new'),
    /** Copies of large files, until they are linked into the copy. */
    staged: join(folder, 'staged'),
    /** The names of what is being copied. */
    list: join(folder, 'list'),
    /** What the target held, whole; `part` while it is being moved there. */
    aside: join(folder, 'old'),
    part: join(folder, 'old.part'),
    /** A file that is older than everything that changed after the copy began. */
    marker: join(folder, 'began'),
    /** A file that names the job, and so this very disk. */
    owner: join(folder, 'job'),
    /**
     * File that is there once an engine may have worked with the copy: how its containers looked
     * before, or nothing once an engine has answered.
     */
    ran: join(folder, 'ran'),
  };
}
