import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'vitest';

import type { TestDaemon } from '../../device/daemon.ts';
import { createRandom, type Random } from '../../support/random.ts';
import { uploadFile, type UndoStatus } from './undo-tasks.ts';
import { treeOf, withoutMarks } from './undo-tree.ts';

/** Tasks that are drawn; a search by hand draws more: `UNDO_TASKS=200 UNDO_SEED=7 OPKG=…`. */
export const TASKS = Number(process.env.UNDO_TASKS ?? 12);
const SEED = Number(process.env.UNDO_SEED ?? 28);
/** On a machine that is busy with others. */
const LIMIT_MS = 240_000;

export interface Drawing {
  device: { root: string; publish: (version: 1 | 2) => void };
  daemon: TestDaemon;
  /** The feed that is switched off and on. */
  feed: string;
  /** A package file, sent by this name. */
  file: { name: string; draw: (random: Random) => Buffer };
  /** Ahead of what the owner edits. */
  tidy?: () => Promise<void>;
  /** Why a task that went well may be none to undo, beside that it changed nothing. */
  excuse?: RegExp;
}

/** What its owner changes, which no task does. */
async function edit({ device: { root }, tidy }: Drawing, random: Random): Promise<void> {
  await tidy?.();
  const file = join(root, random.pick(['etc/config/demo-app', 'etc/config/sent']));
  if (random.below(3) !== 0 || (await readFile(file).catch(() => undefined)) === undefined) return;
  await writeFile(file, `of its owner ${random.below(100)}\n`);
}

/** Begins a task. @returns its id */
async function draw(
  { daemon, feed, file }: Drawing,
  random: Random,
  publish: (version: 1 | 2) => void,
): Promise<string> {
  const name = random.pick(['demo', 'notes', 'demo-app', 'notes-app', 'libdemo', 'sent']);
  switch (random.below(7)) {
    case 0:
      return daemon.submit('remove', { package: name });
    case 1:
      return daemon.submit('upgrade', { package: name });
    case 2:
      publish(random.pick([1, 2]));
      return daemon.submit('update');
    case 3:
      return daemon.submit('upgrade', { all: 'true' });
    case 4:
      return uploadFile(daemon, file.draw(random), file.name);
    case 5:
      return daemon.submit('set_feed', { name: feed, enabled: String(random.below(2)) });
    default:
      return daemon.submit('install', { package: name });
  }
}

/** Why what went well is none to undo. */
function expectReason(what: string, { no_undo: reason = '' }: UndoStatus, excuse?: RegExp): void {
  if (excuse?.test(reason) === true) return;
  expect([what, reason]).toEqual([what, 'It changed nothing.']);
}

/** Each drawn task, undone, has to leave all as it was; and now and then the undo is undone. */
export async function undoDrawnTasks(drawing: Drawing): Promise<void> {
  const { device, daemon, excuse } = drawing;
  const { root } = device;
  // Of a version that its list has, too, opkg fetches what the feed has in an offline root.
  let published: 1 | 2 = 1;
  const publish = (version: 1 | 2): void => {
    published = version;
    device.publish(version);
  };
  const random = createRandom(SEED);
  const undo = async (id: string): Promise<UndoStatus & { id: string }> => {
    const own = await daemon.submit('undo', { task_id: id });
    return { ...(await daemon.finished(own, LIMIT_MS)), id: own };
  };
  const seen: Record<string, number> = {};
  for (let task = 0; task < TASKS; task += 1) {
    await edit(drawing, random);
    const before = await treeOf(root);
    const former = published;
    const id = await draw(drawing, random, publish);
    const ended = (await daemon.finished(id, LIMIT_MS)) as UndoStatus;
    const what = `task ${task}: ${ended.command}`;
    seen[`${ended.kind} ${ended.state}`] = (seen[`${ended.kind} ${ended.state}`] ?? 0) + 1;
    if (ended.can_undo !== true) {
      publish(former);
      if (ended.state === 'done') expectReason(what, ended, excuse);
      continue;
    }
    const after = await treeOf(root);
    const later = published;
    publish(former);
    const undone = await undo(id);
    expect([what, undone.state, undone.error]).toEqual([what, 'done', undefined]);
    expect({ what, ...(await treeOf(root)) }).toEqual({ what, ...before });
    seen.undone = (seen.undone ?? 0) + 1;
    if (random.below(2) === 0) continue;
    if (excuse !== undefined && undone.can_undo !== true) {
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
