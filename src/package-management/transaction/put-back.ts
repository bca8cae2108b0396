import * as v from 'valibot';
import { isThere } from '../../device/is-there.ts';
import { isShortage } from '../../device/shortage.ts';
import { reasonOf } from '../../errors.ts';
import { slots } from '../../jobs/memory.ts';
import { plainAct, plainCommand, retryFrom, type Step, type StepContext } from '../../jobs/plan.ts';
import { changedPackages, isPresent, type PackageDatabase } from '../database.ts';
import type { PackageManager } from '../manager.ts';
import type { KeptPackage } from './kept-packages.ts';

export interface PutBackTools {
  manager: PackageManager;
  /** Copies of what was replaced, as far as there are any. */
  copies: (context: StepContext) => Promise<ReadonlyMap<string, KeptPackage>>;
  /** What was there before, of what is to be put back; undefined if nothing is. */
  stateToRestore: (context: StepContext) => Promise<PackageDatabase | undefined> | PackageDatabase;
}

/**
 * Puts back what was upgraded or removed: from the copies that were kept, else from the feeds if
 * these offer that very version. If other packages came, twice, around their removal: a new version
 * needs what came with it, and what came may exclude what it replaced.
 */
export function putBackSteps(tools: PutBackTools, round: 1 | 2): Step[] {
  const { manager } = tools;
  const prepare = plainAct(`prepare-putting-back-${round}`, 'prepare putting back', (context) =>
    prepareRound(tools, context),
  );
  const repeatIfShutOut = async (context: StepContext, source: keyof Findings) =>
    toPutBack.read(context).putBack[source].length > 0 && (await manager.around.wasShutOut(context))
      ? retryFrom(prepare)
      : undefined;
  return [
    prepare,
    plainCommand(`put-back-files-${round}`, 'put back', async (context) => {
      const { files } = toPutBack.read(context).putBack;
      return files.length === 0 ? undefined : (await manager.restoration()).installFiles(files);
    }),
    plainAct(`judge-files-${round}`, 'check: put back', (context) =>
      repeatIfShutOut(context, 'files'),
    ),
    plainCommand(`put-back-offered-${round}`, 'put back from feeds', async (context) => {
      const { offered } = toPutBack.read(context).putBack;
      if (offered.length === 0) return undefined;
      return (await manager.restoration()).installOffered(offered);
    }),
    plainAct(`judge-offered-${round}`, 'check: put back from feeds', async (context) => {
      const jump = await repeatIfShutOut(context, 'offered');
      if (jump === undefined) await finish(tools, context);
      return jump;
    }),
    // After the first round these steps follow in the repair itself.
    ...(round === 1 ? [] : (manager.around.after ?? []).map(putBackStep)),
  ];
}

function putBackStep(step: Step): Step {
  return { ...step, id: `${step.id}-put-back` };
}

/** Says what was put back, and in the job's error what was not. */
export async function reportPutBack(
  { manager, stateToRestore }: PutBackTools,
  context: StepContext,
): Promise<void> {
  const before = await stateToRestore(context);
  if (before === undefined) return;
  const after = await manager.installed();
  const lost = lostPackages(before, after);
  for (const { name, version } of lost) {
    const now = after.get(name);
    const what = isPresent(now) ? `${now.version} stays` : 'it is gone';
    context.addToError(`${name} ${version} could not be put back: ${what}`);
  }
  const { wanted } = toPutBack.read(context).putBack;
  const back = wanted.filter((name) => lost.every((entry) => entry.name !== name));
  if (back.length > 0) await context.note(`${back.join(', ')} is as it was before`);
  context.reportChanged(changedPackages(before, after));
}

const findingsSchema = v.object({
  /** Names, over both rounds. */
  wanted: v.array(v.string()),
  files: v.array(v.string()),
  offered: v.array(v.object({ name: v.string(), version: v.string() })),
});
type Findings = v.InferOutput<typeof findingsSchema>;

const toPutBack = slots('what is put back', {
  putBack: v.optional(findingsSchema, { wanted: [], files: [], offered: [] }),
});

/** What the job has put back itself, or tried to. */
export function namesPutBack(context: StepContext): readonly string[] {
  return toPutBack.read(context).putBack.wanted;
}

/** Packages that are gone, or there in another version. */
function lostPackages(before: PackageDatabase, now: PackageDatabase) {
  return [...before.values()].filter(({ name, version, state }) => {
    const entry = now.get(name);
    return state === 'installed' && (!isPresent(entry) || entry.version !== version);
  });
}

async function prepareRound(
  { manager, copies: findCopies, stateToRestore }: PutBackTools,
  context: StepContext,
): Promise<void> {
  const { note } = context;
  const { wanted } = toPutBack.read(context).putBack;
  toPutBack.write(context, { putBack: { wanted, files: [], offered: [] } });
  const before = await stateToRestore(context);
  if (before === undefined) return;
  await attempt(context, () => manager.around.mend(context));
  const lost = lostPackages(before, await manager.installed());
  if (lost.length === 0) return;
  const copies = await findCopies(context);
  const offers = await manager.offers(lost.map(({ name }) => name));
  const found: Findings = { wanted: [...wanted], files: [], offered: [] };
  for (const { name, version } of lost) {
    const copy = copies.get(name);
    found.wanted.push(name);
    if (copy?.version === version && (await isThere(copy.file))) found.files.push(copy.file);
    else if (offers.get(name)?.[0]?.version === version) found.offered.push({ name, version });
  }
  toPutBack.write(context, { putBack: { ...found, wanted: [...new Set(found.wanted)] } });
  await note(`to be put back: ${lost.map(({ name, version }) => `${name} ${version}`).join(', ')}`);
  await manager.around.beforeRepair(context, { came: [], half: [] });
}

/** Notes a failure and goes on: what came is to be removed all the same. Throws shortages. */
export async function attempt<Value>(
  { note }: Pick<StepContext, 'note'>,
  work: () => Promise<Value>,
): Promise<Value | undefined> {
  return work().catch(async (error: unknown) => {
    if (isShortage(error)) throw error;
    await note(reasonOf(error)).catch(() => undefined);
    return undefined;
  });
}

/** Completes the records of packages that were put back from copies. */
async function finish({ manager, copies }: PutBackTools, context: StepContext): Promise<void> {
  const { files, offered } = toPutBack.read(context).putBack;
  if (files.length + offered.length === 0) return;
  const now = await manager.installed();
  const back = [...(await copies(context))].filter(
    ([name, { version }]) => isPresent(now.get(name)) && now.get(name)?.version === version,
  );
  const records = new Map(back.map(([name, { record }]) => [name, record]));
  await (await manager.restoration()).finish(records);
}
