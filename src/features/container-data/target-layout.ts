/** The folder of a move that is under way, in its target. */
export const MOVE_NAME = '.depotd-move';
/** The same after the move has succeeded: what is in it is only to be removed. */
export const DONE_NAME = '.depotd-done';

/** In the folder of a move: the copy, until it is put in place. */
export const COPY_NAME = 'new';
/** … copies of large files, until they are linked into the copy. */
export const STAGED_NAME = 'staged';
/** … the names of what is being copied. */
export const LIST_NAME = 'list';
/** … what the target held, whole; while it is being moved there it is called ASIDE_PART_NAME. */
export const ASIDE_NAME = 'old';
export const ASIDE_PART_NAME = 'old.part';
/** … a file that is older than everything that changed after the copy began. */
export const MARKER_NAME = 'began';
/** … a file that names the job, and so this very disk. */
export const OWNER_NAME = 'job';

/**
 * … a file that is there once an engine can have worked with the copy in place: how its
 * containers looked before, or nothing once it has.
 */
export const RAN_NAME = 'ran';
/**
 * Begins the name of a copy that an engine has worked with before the move was undone: what
 * containers wrote there is nowhere else.
 */
export const LEFT_PREFIX = '.depotd-left-';

/**
 * At the top of a data root, what is no part of it: mke2fs makes the first one on every new disk.
 */
export const KEPT_OUT = ['lost+found', MOVE_NAME, DONE_NAME, `${LEFT_PREFIX}*`];
