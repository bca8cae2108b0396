import type { PackageSummary } from '../../listing.ts';
import { appOf, isPackageName, metaPackageOf } from '../../names.ts';
import type { ApkCommands } from '../commands.ts';
import { APP_FIELDS, readAppNeeds, readSummary, SUMMARY_FIELDS } from './describe.ts';
import { parseObject } from './json-objects.ts';
import { queryFeeds } from './query.ts';

/** Apps whose dependencies are looked up; of further ones none are shown. */
const MOST_APPS = 1000;

interface SummaryOptions {
  commands: Pick<ApkCommands, 'apk'>;
  isAccepted: (architecture: string) => boolean;
  /** Name of a feed by its URL. */
  nameOf: (url: string) => string;
}

/**
 * What the feeds offer, as a list shows it, until `visit` says false. Of packages that are no apps
 * nobody needs the dependencies, and those are a quarter of what apk prints. So apk is asked again
 * for those of the apps, beside the rest.
 */
export async function visitSummaries(
  { commands, isAccepted, nameOf }: SummaryOptions,
  visit: (offer: PackageSummary) => boolean,
): Promise<void> {
  const apps: Found[] = [];
  let needs: Promise<AppNeeds> | undefined;
  const show = ({ repositories, summary }: Found, depends: PackageSummary['depends']): boolean =>
    repositories.every((url) => visit({ ...summary, depends, feed: nameOf(url) }));
  let isWanted = true;
  const onObject = (text: string): boolean => {
    const found = readSummary(parseObject(text) ?? {});
    const { name } = found.summary;
    if (!isPackageName(name) || !isAccepted(found.arch)) return true;
    if (appOf(name).isApp && apps.length < MOST_APPS) {
      needs ??= readNeeds(commands);
      apps.push(found);
    } else isWanted = show(found, []);
    return isWanted;
  };
  await queryFeeds(commands, { names: ['*'], fields: SUMMARY_FIELDS, onObject });
  const known = await needs;
  for (const app of apps) {
    isWanted &&= show(app, known?.get(keyOf(app.summary)) ?? []);
    if (!isWanted) return;
  }
}

type Found = ReturnType<typeof readSummary>;
type AppNeeds = ReadonlyMap<string, PackageSummary['depends']>;

async function readNeeds(commands: SummaryOptions['commands']): Promise<AppNeeds> {
  const needs = new Map<string, PackageSummary['depends']>();
  const onObject = (text: string): boolean => {
    const { depends, ...app } = readAppNeeds(parseObject(text) ?? {});
    needs.set(keyOf(app), depends);
    return needs.size < MOST_APPS;
  };
  // Without them an app is shown, only with fewer words.
  await queryFeeds(commands, { names: [metaPackageOf('*')], fields: APP_FIELDS, onObject }).catch(
    () => undefined,
  );
  return needs;
}

function keyOf({ name, version }: Pick<PackageSummary, 'name' | 'version'>): string {
  return `${name} ${version}`;
}
