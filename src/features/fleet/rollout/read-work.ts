import * as v from 'valibot';
import { parseJson } from '../../../device/durable-file.ts';
import { DepotError } from '../../../errors.ts';
import { packageName } from '../../../package-management/names.ts';
import { fleetFailure } from '../failures.ts';
import type { Artifact, Chunk } from '../ddi/ddi-schemas.ts';
import {
  collected,
  firmwarePlan,
  isLookOnly,
  verification,
  type WantedFile,
  type Work,
  type WorkFile,
} from './work.ts';

/** Metadata of a module: what is to be done beside its files, and a signature over that text. */
export const PLAN_KEY = 'depotd.plan';
export const PLAN_SIGNATURE_KEY = 'depotd.plan.sig';

const names = v.optional(v.pipe(v.array(packageName), v.maxLength(100)), []);

/** Version 1 of `depotd.plan`. What it does not know is refused: it might be what matters. */
const planSchema = v.strictObject({
  version: v.literal(1),
  install: names,
  upgrade: names,
  remove: names,
  settings: v.optional(
    v.pipe(
      v.record(
        v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_]+){1,2}$/)),
        // One line: a value of several could not be told from other options in a UCI file.
        v.nullable(v.pipe(v.string(), v.maxLength(1024), v.regex(/^[^\0-\x1f\x7f]*$/))),
      ),
      v.check(haveTypes, 'CONFIG.SECTION needs the type of the section, or null'),
    ),
    {},
  ),
  /** Whether values of settings have variables: a version that knows none refuses the plan. */
  variables: v.optional(v.boolean(), false),
  self_upgrade: v.optional(v.boolean(), false),
  firmware: v.optional(firmwarePlan),
  /** Whether what the device stands on may be removed. */
  system: v.optional(v.boolean(), false),
  verify: v.optional(v.pipe(v.array(verification), v.maxLength(20)), []),
  collect: v.optional(v.pipe(v.array(collected), v.maxLength(4)), []),
  reboot: v.optional(v.boolean(), false),
  // What is wrong with it is said without it.
  token: v.optional(
    v.pipe(v.string('not a token'), v.regex(/^[\x21-\x7e]{16,128}$/, 'not a token')),
  ),
  limit_s: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(604_800))),
});

function haveTypes(settings: Readonly<Record<string, string | null>>): boolean {
  return Object.entries(settings).every(
    ([name, value]) => value === null || isOption(name) || /^[A-Za-z0-9_-]+$/.test(value),
  );
}

function isOption(name: string): boolean {
  return name.split('.').length === 3;
}

/**
 * What a distribution set asks for: the files of its modules, and what their plans say.
 * @param ending of the package manager's own files
 * @throws DepotError bad_request that names what cannot be read
 */
export function readWork(chunks: readonly Chunk[], ending: string): Work {
  const plans = chunks.flatMap(plansOf);
  const all = chunks.flatMap((chunk) => filesOf(chunk, ending));
  const [firmware, ...more] = plans.flatMap((plan) => plan.firmware ?? []);
  if (more.length > 0) throw refused('two modules are a firmware');
  const [token, ...others] = unique(plans.flatMap((plan) => plan.token ?? []));
  if (others.length > 0) throw refused('two modules bring a token');
  const limits = plans.flatMap(({ limit_s: limitS }) => limitS ?? []);

  const work: Work = {
    title: titleOf(chunks),
    files: uniqueFiles(all),
    signatures: all.filter(({ kind }) => kind === 'signature').map(downloadOf),
    install: unique(plans.flatMap(({ install }) => install)),
    upgrade: unique(plans.flatMap(({ upgrade }) => upgrade)),
    remove: unique(plans.flatMap(({ remove }) => remove)),
    settings: mergeSettings(plans.map(({ settings }) => settings)),
    templates: plans.flatMap(({ settings, variables }) =>
      variables ? Object.keys(settings).filter((name) => isOption(name)) : [],
    ),
    verify: plans.flatMap(({ verify }) => verify),
    selfUpgrade: plans.some(({ self_upgrade: isAsked }) => isAsked),
    isOfSystem: plans.some(({ system }) => system),
    ...(firmware === undefined ? {} : { firmware }),
    collect: unique(plans.flatMap(({ collect }) => collect)),
    reboot: plans.some(({ reboot }) => reboot),
    ...(token === undefined ? {} : { token }),
    ...(limits.length === 0 ? {} : { limitS: Math.max(...limits) }),
  };
  checkContradictions(work);
  return work;
}

function refused(why: string): DepotError {
  return new DepotError('bad_request', `cannot do the action: ${why}`);
}

function plansOf({ name, metadata }: Chunk): v.InferOutput<typeof planSchema>[] {
  return metadata
    .filter(({ key }) => key === PLAN_KEY)
    .map(({ value }) => {
      const result = v.safeParse(planSchema, parseJson(value), { abortEarly: true });
      if (result.success) return result.output;
      const [issue] = result.issues;
      const field = v.getDotPath(issue) ?? 'it';
      const why = `${shown(field)}: ${shown(issue.message, 200)}`;
      const text = `cannot do the action: ${PLAN_KEY} of ${shown(name)}: ${why}`;
      throw fleetFailure('bad_request', 'plan_unreadable', text);
    });
}

type FoundFile = Omit<WorkFile, 'kind'> & { kind: WorkFile['kind'] | 'signature' };

function filesOf({ artifacts }: Chunk, ending: string): FoundFile[] {
  return artifacts.map((artifact) => {
    const signature = artifacts.find(({ filename }) => filename === `${artifact.filename}.sig`);
    return {
      sha256: sha256Of(artifact),
      bytes: artifact.size,
      label: shown(artifact.filename),
      ...kindOf(artifact, ending),
      ...(signature === undefined ? {} : { signature: sha256Of(signature) }),
    };
  });
}

function sha256Of({ filename, hashes: { sha256 } }: Artifact): string {
  if (sha256 !== undefined) return sha256;
  throw refused(`${shown(filename)} has no SHA-256 (sha256): a weaker hash does not do`);
}

function kindOf({ filename }: Artifact, ending: string): Pick<FoundFile, 'kind' | 'ending'> {
  const name = filename.toLowerCase();
  if (name.endsWith(`.${ending}`)) return { kind: 'package', ending };
  if (name.endsWith('.run')) return { kind: 'program', ending: 'run' };
  if (name.endsWith('.sig')) return { kind: 'signature', ending: 'sig' };
  const [, image] = /\.(bin|itb|img|gz)$/.exec(name) ?? [];
  if (image !== undefined) return { kind: 'firmware', ending: image };
  throw refused(`${shown(filename)} ends neither in .${ending} nor in .run, .bin, .itb or .img.gz`);
}

function downloadOf({ sha256, bytes, label, ending }: FoundFile): WantedFile {
  return { sha256, bytes, label, ending };
}

/** The files of an action, each content once. Packages stand before programs. */
function uniqueFiles(files: readonly FoundFile[]): WorkFile[] {
  const found = new Map<string, WorkFile>();
  for (const { kind, ...file } of files) {
    if (kind !== 'signature' && !found.has(file.sha256)) found.set(file.sha256, { ...file, kind });
  }
  const rank = ({ kind, label }: WorkFile): string => `${kind} ${label}`;
  return [...found.values()].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

function unique<Name>(list: readonly Name[]): Name[] {
  return [...new Set(list)];
}

function mergeSettings(all: readonly Work['settings'][]): Work['settings'] {
  const merged = new Map<string, string | null>();
  for (const [name, value] of all.flatMap((settings) => Object.entries(settings))) {
    if (merged.has(name) && merged.get(name) !== value) {
      throw refused(`two modules set ${name} to different values`);
    }
    merged.set(name, value);
  }
  return Object.fromEntries(merged);
}

function checkContradictions(work: Work): void {
  const { install, upgrade, remove, selfUpgrade, reboot } = work;
  const twice = remove.find((name) => [...install, ...upgrade].includes(name));
  if (twice !== undefined) throw refused(`it installs and removes ${twice}`);
  if (reboot && selfUpgrade) throw refused('reboot and self_upgrade cannot be both the last');
  if (isLookOnly(work) && work.collect.length === 0) {
    throw refused(`it has no file and no ${PLAN_KEY}`);
  }
  checkFirmware(work);
}

function checkFirmware(work: Work): void {
  const { files, firmware, install, upgrade, remove, settings, verify } = work;
  const images = files.filter(({ kind }) => kind === 'firmware').length;
  if (images === 0 && firmware === undefined) return;
  if (firmware === undefined) throw refused(`${PLAN_KEY} does not say which version its image is`);
  const beside = [install, upgrade, remove, Object.keys(settings), verify].flat().length;
  const hasMore = work.selfUpgrade || work.reboot || work.token !== undefined;
  if (images !== 1 || files.length + beside > 1 || hasMore) {
    throw refused('a firmware is one image, and nothing else in its distribution set');
  }
}

/** What people read of a distribution set. */
export function titleOf(chunks: readonly Chunk[]): string {
  const titles = chunks.map(({ name, version }) => `${shown(name)} ${shown(version)}`);
  return unique(titles).sort().join(', ').slice(0, 200);
}

/** A text of the server's without what a terminal or a log takes for more than text. */
export function shown(text: string, most = 128): string {
  return text.replace(/[^\p{L}\p{N}\p{M}\p{P}\p{S} ]/gu, '').slice(0, most);
}
