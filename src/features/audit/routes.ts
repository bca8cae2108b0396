import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { DepotError } from '../../errors.ts';
import type { Paths } from '../../device/paths.ts';
import { mostCharacters } from '../../http/parameter-schemas.ts';
import { json } from '../../http/respond.ts';
import { get, postAsReader, type Route } from '../../http/route.ts';
import { isPresent } from '../../package-management/database.ts';
import type { FileRecord } from '../../package-management/listing.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import { cycloneDx, type Component } from './cyclonedx.ts';

export interface AuditTools {
  paths: Paths;
  manager: Pick<
    PackageManager,
    'name' | 'installed' | 'fileRecords' | 'listing' | 'compareVersions' | 'architecture'
  >;
  /** Aborts when the daemon stops. */
  stopping: AbortSignal;
}

/** Longest advisories: as much as a form has room for. */
const MOST_CHARACTERS = 60_000;

/** What is there, held to what is on record. Nothing is written, nothing fetched. */
export function auditRoutes(tools: AuditTools): Route[] {
  let isLooking = false;
  return [
    get({
      path: 'admin/system/verify',
      summary: 'The files of packages against what is on record, and what came with no package',
      handle: async ({ context }) => {
        if (isLooking) throw new DepotError('unavailable', 'somebody else has it looked at now');
        isLooking = true;
        try {
          const signal = AbortSignal.any([context.req.raw.signal, tools.stopping]);
          return json(await verify(tools, signal));
        } finally {
          isLooking = false;
        }
      },
    }),
    get({
      path: 'admin/system/sbom',
      summary: 'What is installed, as a software bill of materials (CycloneDX)',
      handle: async () => json(await deviceSbom(tools)),
    }),
    postAsReader({
      path: 'admin/system/advisories',
      summary: 'Which of these advisories concern what is installed',
      params: { advisories: v.pipe(v.string(), mostCharacters(MOST_CHARACTERS)) },
      handle: async ({ params }) => {
        const { advisories, affectedBy } = await import('./advisories.ts');
        const list = v.safeParse(advisories, params.advisories, { abortEarly: true });
        if (!list.success) {
          throw new DepotError('bad_request', 'cannot use the advisories: they are none');
        }
        const database = await tools.manager.installed();
        return json({ affected: affectedBy(list.output, database, tools.manager.compareVersions) });
      },
    }),
  ];
}

async function verify({ paths, manager }: AuditTools, signal: AbortSignal): Promise<object> {
  const { checkFiles } = await import('./file-check.ts');
  const { findListeners, findSetId } = await import('./strangers.ts');
  const records: FileRecord[] = [];
  for await (const record of manager.fileRecords()) records.push(record);
  const recorded = new Set(records.map(({ path }) => path));
  const isRecorded = (path: string): boolean => recorded.has(path);
  const { onDevice, root } = paths;
  const differing = await checkFiles(records, { onDevice, signal });
  const config = new Set(records.filter(({ isConfig }) => isConfig).map(({ path }) => path));
  const { found: setId, unseen } = await findSetId(root, { isRecorded, signal });
  return {
    files: records.length,
    differing: differing.filter(({ path }) => !config.has(path)),
    configuration: differing.filter(({ path }) => config.has(path)),
    set_id: setId,
    ...(unseen.length > 0 && { unseen }),
    // The processes of this host are not those of another root.
    listeners: paths.isLive ? await findListeners({ isRecorded, signal }) : [],
  };
}

async function deviceSbom({ paths, manager }: AuditTools): Promise<object> {
  const text = await readFile(paths.onDevice('/etc/openwrt_release'), 'utf8').catch(() => '');
  const [, release = 'unknown'] = /^DISTRIB_RELEASE=['"]?([^'"\n]+)/m.exec(text) ?? [];
  const database = await manager.installed();
  const names = [...database.values()].filter(isPresent).map(({ name }) => name);
  const components: Component[] = [];
  for await (const found of manager.listing.readInstalled(names)) {
    const { name, description, license: licence } = found;
    const { version = found.version, architecture = '' } = database.get(name) ?? {};
    const purlVersion = encodeURIComponent(version);
    components.push({
      type: 'library',
      name,
      version,
      ...(description === '' ? {} : { description }),
      purl: `pkg:${manager.name}/openwrt/${name}@${purlVersion}?arch=${architecture}`,
      licence,
    });
  }
  const purl = `pkg:generic/openwrt@${encodeURIComponent(release)}`;
  const subject: Component = { type: 'operating-system', name: 'OpenWrt', version: release, purl };
  return cycloneDx(subject, components, Math.floor(Date.now() / 1000));
}
