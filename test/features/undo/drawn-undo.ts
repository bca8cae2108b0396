import { expect } from 'vitest';

import type { TestDaemon } from '../../device/daemon.ts';
import { createRandom, type Random } from '../../support/random.ts';
import type { UndoStatus } from './undo-tasks.ts';
import { treeOf, withoutMarks } from './undo-tree.ts';

/** Tasks that are drawn; a search by hand draws more: `UNDO_TASKS=200 UNDO_SEED=7 OPKG=…`. */
export const TASKS = Number(process.env.UNDO_TASKS ?? 12);
const SEED = Number(process.env.UNDO_SEED ?? 28);
/** On a machine that is busy with others. */
const LIMIT_MS = 240_000;

interface Drawing {
  root: string;
  daemon: TestDaemon;
  /** What its owner changes, which no task does. */
  edit: (random: Random) => Promise<void>;
  /** Begins a task. @returns its id */
  draw: (random: Random) => Promise<string>;
  /** What the feed has at this moment, and how to have it again. */
  published: () => 1 | 2;
  publish: (version: 1 | 2) => void;
}

/** Each drawn task, undone, has to leave all as it was; and now and then the undo is undone. */
export async function undoDrawnTasks(drawing: Drawing): Promise<void> {
  const { root, daemon, edit, draw, published, publish } = drawing;
  const random = createRandom(SEED);
  const undo = async (id: string): Promise<UndoStatus & { id: string }> => {
    const own = await daemon.submit('undo', { task_id: id });
    return { ...(await daemon.finished(own, LIMIT_MS)), id: own };
  };
  const seen: Record<string, number> = {};
  for (let task = 0; task < TASKS; task += 1) {
    await edit(random);
    const before = await treeOf(root);
    const former = published();
    const id = await draw(random);
    const ended = (await daemon.finished(id, LIMIT_MS)) as UndoStatus;
    const what = `task ${task}: ${ended.command}`;
    seen[`${ended.kind} ${ended.state}`] = (seen[`${ended.kind} ${ended.state}`] ?? 0) + 1;
    if (ended.can_undo !== true) {
      publish(former);
      if (ended.state === 'done') {
        // A version that was there and is uploaded may be another build of it.
        expect(`${what}: ${ended.no_undo}`).toMatch(
          /: (?:It changed nothing|There is no copy of sent \S+)\.$/,
        );
      }
      continue;
    }
    const after = await treeOf(root);
    const later = published();
    publish(former);
    const undone = await undo(id);
    expect([what, undone.state, undone.error]).toEqual([what, 'done', undefined]);
    expect({ what, ...(await treeOf(root)) }).toEqual({ what, ...before });
    seen.undone = (seen.undone ?? 0) + 1;
    if (random.below(2) === 0) continue;
    if (undone.can_undo !== true) {
      expect([what, undone.no_undo]).toEqual([what, 'It changed nothing.']);
      continue;
    }
    publish(later);
    const again = await undo(undone.id);
    expect([what, again.state, again.error]).toEqual([what, 'done', undefined]);
    const redone = { what, ...withoutMarks(await treeOf(root)) };
    expect(redone).toEqual({ what, ...withoutMarks(after) });
  }
  if (process.env.UNDO_TASKS !== undefined) console.log(seen);
}
