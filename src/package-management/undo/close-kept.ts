import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as v from 'valibot';
import { readJson, replaceFile } from '../../device/durable-file.ts';
import type { StepContext } from '../../jobs/plan.ts';
import { isPresent } from '../database.ts';
import { createKeptPackages } from '../transaction/kept-packages.ts';
import { namesPutBack } from '../transaction/put-back.ts';
import { changedFiles, copyName, scanFiles, sumOf, type FileScope } from './file-states.ts';
import {
  BEFORE,
  beforeSchema,
  FILES,
  filesOf,
  MANIFEST,
  type Manifest,
  readManifest,
  recordsIn,
  versionsIn,
  type Before,
  type UndoTools,
} from './kept-folder.ts';
import {
  NOTHING_REPLACED,
  replaced,
  type ChangedFile,
  type ChangedPackage,
  type Replaced,
} from './undo-record.ts';
import { ownValue } from '../names.ts';

/** Says what is different from before the job, and drops the copies of all that is not. */
export async function closeKept(
  tools: UndoTools,
  scope: () => Promise<FileScope>,
  context: StepContext,
): Promise<void> {
  const { manager, paths, store } = tools;
  const { job } = context;
  const { place } = replaced.find(context)?.undo ?? {};
  const folder = await store.find(job.id);
  if (place === undefined || folder === undefined) return;
  const found = v.safeParse(beforeSchema, await readJson(join(folder, BEFORE)));
  if (!found.success) {
    const manifest = await readManifest(folder);
    const sum = await sumOf(join(folder, MANIFEST)).catch(() => undefined);
    if (manifest === undefined) return;
    const undo = manifest.replaced as Replaced;
    replaced.write(context, { undo: { ...undo, sum } });
    recallChanged(context, undo.packages);
    return;
  }
  const before = found.output;
  const database = await manager.installed();
  const versions = versionsIn(database);
  const packages = changedVersions(before, versions);
  recallChanged(context, packages);
  const came = packages.map(({ name }) => name).filter((name) => isPresent(database.get(name)));
  const [records, itsFiles, now, copies, absent, builds] = await Promise.all([
    recordsIn(manager, database),
    filesOf(manager, paths, came),
    scope().then(scanFiles),
    readdir(join(folder, FILES)).catch(() => []),
    lostOf(tools, { folder, jobId: job.id, packages }),
    manager.builds?.(),
  ]);
  const marked = Object.keys(before.records).filter(
    (name) =>
      ownValue(before.packages, name) === ownValue(versions, name) &&
      ownValue(before.records, name) !== (records.get(name) ?? ''),
  );
  const owned = new Set([...before.owned, ...itsFiles]);
  const kept = new Set(copies);
  const files = changedFiles(new Map(Object.entries(before.files)), now).filter(
    ({ path, before: was }) =>
      !owned.has(path) && (was?.startsWith('file ') !== true || kept.has(copyName(path))),
  );
  const others = rebuilt(before, versions, builds ?? new Map());
  // A package that the repair put back from a copy is another build as well, and not lost.
  const back = new Set(namesPutBack(context).map((name) => `${name} ${before.packages[name]}`));
  const lost = [...absent, ...others.filter((one) => !back.has(one))];
  const undo: Replaced = { place, packages, marked, files, lost };
  const needed = [...packages, ...files].some((one) => one.before !== undefined);
  if (!needed && marked.length === 0) {
    // The copies go with the end of the job: whoever does this once more needs them.
    replaced.write(context, { undo: { ...NOTHING_REPLACED, packages, files } });
    return;
  }
  await dropUnchanged(folder, { files, packages }, `.${manager.files.ending}`);
  const names = [...packages.map(({ name }) => name), ...marked];
  const manifest: Manifest = {
    replaced: undo,
    records: Object.fromEntries(names.map((name) => [name, ownValue(before.records, name) ?? ''])),
    sums: await sumsIn(folder),
  };
  await replaceFile(join(folder, MANIFEST), JSON.stringify(manifest));
  await rm(join(folder, BEFORE), { force: true });
  replaced.write(context, { undo: { ...undo, sum: await sumOf(join(folder, MANIFEST)) } });
}

/** Reports the changed packages again if a daemon that was killed had not recorded them. */
function recallChanged(
  { job, reportChanged }: StepContext,
  packages: readonly ChangedPackage[] = [],
): void {
  if (job.packages === undefined) reportChanged(packages.map(({ name }) => name));
}

function changedVersions(
  { packages: before, bytes }: Pick<Before, 'packages' | 'bytes'>,
  after: Record<string, string>,
): ChangedPackage[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => {
    const [was, is] = [ownValue(before, name), ownValue(after, name)];
    return was === is ? [] : [{ name, before: was, after: is, bytes: ownValue(bytes, name) }];
  });
}

/** Another build came of the same version, and a version is what an undo goes by. */
function rebuilt(
  { packages, builds }: Pick<Before, 'packages' | 'builds'>,
  after: Record<string, string>,
  now: ReadonlyMap<string, string>,
): string[] {
  return Object.entries(builds).flatMap(([name, build]) =>
    ownValue(packages, name) === ownValue(after, name) && now.get(name) !== build
      ? [`${name} ${ownValue(packages, name) ?? ''}`]
      : [],
  );
}

/** Replaced versions that cannot come back: no copy has them, and no feed offers them. */
async function lostOf(
  { manager, paths }: UndoTools,
  copied: { folder: string; jobId: string; packages: readonly ChangedPackage[] },
): Promise<string[]> {
  const { folder, jobId, packages } = copied;
  const copies = await createKeptPackages(folder, { manager, paths }).find(jobId);
  const absent = packages.filter(
    ({ name, before }) => before !== undefined && copies.get(name)?.version !== before,
  );
  if (absent.length === 0) return [];
  const offers = await manager.offers(absent.map(({ name }) => name));
  return absent
    .filter(({ name, before }) => offers.get(name)?.[0]?.version !== before)
    .map(({ name, before }) => `${name} ${before}`);
}

async function dropUnchanged(
  folder: string,
  { files, packages }: { files: readonly ChangedFile[]; packages: readonly ChangedPackage[] },
  ending: string,
): Promise<void> {
  const wanted = new Set(files.map(({ path }) => copyName(path)));
  for (const name of await readdir(join(folder, FILES)).catch(() => [])) {
    if (!wanted.has(name)) await rm(join(folder, FILES, name), { force: true });
  }
  const changed = new Set(packages.map(({ name }) => name));
  for (const name of await readdir(folder)) {
    const isUnchanged = !changed.has(basename(name, ending));
    if (name.endsWith(ending) && isUnchanged) await rm(join(folder, name), { force: true });
  }
}

async function sumsIn(folder: string): Promise<Record<string, string>> {
  const sums: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(folder.length + 1);
    if (entry.isFile() && name !== BEFORE && name !== MANIFEST) sums[name] = await sumOf(path);
  }
  return sums;
}
