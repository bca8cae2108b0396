import { dirname } from 'node:path';
import * as v from 'valibot';
import type { Paths } from '../../device/paths.ts';
import { DepotError } from '../../errors.ts';
import { lateAct } from '../../jobs/plan.ts';
import type { AppContainers } from '../../package-management/package-tools.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import { transactionSlots } from '../../package-management/transaction-slots.ts';
import { appOf, readAppScripts, type AppScript } from './app-scripts.ts';
import { dataFoldersOf } from './data-folders.ts';
import type { Container, EngineView } from './engine-view.ts';
import { recordedContainer, removeRecorded, type RecordedContainer } from './removal.ts';

interface Locations {
  paths: Paths;
  engine: EngineView;
  listing: Pick<PackageManager['listing'], 'record'>;
}

/** Optional, since a job that an earlier version began has none. */
const removal = transactionSlots('the containers', {
  containers: v.optional(v.array(recordedContainer), []),
  isPurge: v.optional(v.boolean(), false),
});

export function createAppContainers({ paths, engine, listing }: Locations): AppContainers {
  /** Scripts that go with the packages, and those that stay. */
  const scriptsOf = async (packages: readonly string[]): Promise<AppScript[][]> => {
    const going = new Set<string>();
    for (const name of packages) {
      for (const file of (await listing.record(name))?.files ?? []) {
        if (paths.onDevice(dirname(file)) !== paths.containerScriptDir) continue;
        going.add(file.slice(file.lastIndexOf('/') + 1).replace(/\.sh$/, ''));
      }
    }
    if (going.size === 0) return [[], []];
    const scripts = await readAppScripts(paths);
    return [
      scripts.filter(({ app }) => going.has(app)),
      scripts.filter(({ app }) => !going.has(app)),
    ];
  };
  const find = async (
    packages: readonly string[],
  ): Promise<RecordedContainer[] | 'absent' | 'silent'> => {
    const [going = [], staying = []] = await scriptsOf(packages);
    if (going.length === 0) return [];
    const all = await engine.containers();
    if (typeof all === 'string') return all;
    const appIn = (container: Container): string | undefined =>
      appOf(container, [...staying.filter(({ app }) => app === container.name), ...going]);
    const goes = all.filter((one) => going.some(({ app }) => app === appIn(one)));
    const others = all.filter((one) => !goes.includes(one));
    const dataRoot = goes.length === 0 ? undefined : await engine.dataRoot();
    const foreign = others.flatMap(({ mounts }) => mounts.map(({ source }) => source));
    if (dataRoot !== undefined) foreign.push(dataRoot);
    return Promise.all(
      goes.map(async (one) => {
        const folders = await dataFoldersOf(appIn(one) ?? '', one, { paths, others: foreign });
        return record(one, folders);
      }),
    );
  };
  return {
    planned: async (packages) => {
      const found = await find(packages);
      if (typeof found === 'string' || found.length === 0) return [];
      const sizes = await engine.imageSizes();
      return found.map(({ name, image, imageId, volumes, folders, ...rest }) => {
        const bytes = sizes.get(imageId);
        return {
          ...{ name, image },
          ...(bytes !== undefined && { image_bytes: bytes }),
          ...(!rest.isPinned && { is_unpinned: true }),
          keeps: [...folders, ...volumes.map(({ path }) => path)],
        };
      });
    },
    choose: async (context, { subject, packages, isPurge }) => {
      const found = await find(packages);
      if (found === 'silent') {
        const message =
          `cannot remove ${subject}: ` +
          'the container engine does not answer, and its container would run on';
        throw new DepotError('unavailable', message);
      }
      if (found === 'absent') {
        await context.note('the container engine does not run: containers of the app stay with it');
      }
      removal.write(context, { containers: typeof found === 'string' ? [] : found, isPurge });
    },
    remove: lateAct('remove-containers', 'remove its containers', async (context) => {
      const { containers, isPurge } = removal.find(context) ?? { containers: [], isPurge: false };
      await removeRecorded({ engine, containers, isPurge, note: context.note });
    }),
  };
}

function record({ id, name, image, imageId, mounts }: Container, folders: string[]) {
  return {
    ...{ id, name, image, imageId, folders },
    isPinned: isPinned(image),
    volumes: mounts
      .filter(({ kind, name: volume }) => kind === 'volume' && volume !== '')
      .map(({ name: volume, source }) => ({ name: volume, path: source })),
  };
}

/** Whether the name of an image says which version it is. */
export function isPinned(image: string): boolean {
  if (image.includes('@sha256:')) return true;
  const tag = /:([^/:]+)$/.exec(image)?.[1];
  return tag !== undefined && tag !== 'latest';
}
