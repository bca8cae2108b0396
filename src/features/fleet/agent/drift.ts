import { isPresent } from '../../../package-management/database.ts';
import { metaPackageOf } from '../../../package-management/names.ts';
import type { Fleet } from './fleet.ts';

const MOST_CHARACTERS = 128;

/**
 * What is missing, or older, of what this server's sets have installed: `adfilter missing, dnsmasq
 * 2.90-1`. Nothing is done about it. An owner's newer version is none.
 */
export async function driftOf(
  { records, manager }: Pick<Fleet, 'records' | 'manager'>,
  from: string,
): Promise<string> {
  const wished = new Map<string, string>();
  for (const { from: other, rolledOut, work } of records.all()) {
    if (other !== from || rolledOut === undefined) continue;
    for (const name of work?.remove ?? []) {
      for (const each of [metaPackageOf(name), name]) wished.delete(each);
    }
    for (const [name, version] of Object.entries(rolledOut)) wished.set(name, version);
  }
  if (wished.size === 0) return '';
  const installed = await manager.installed();
  return fitting(
    [...wished].flatMap(([name, version]) => {
      const now = installed.get(name);
      if (!isPresent(now)) return [`${name} missing`];
      const isOlder = manager.compareVersions(now.version, version) < 0;
      return isOlder ? [`${name} ${now.version}`] : [];
    }),
  );
}

function fitting(found: readonly string[]): string {
  for (let count = found.length; count > 0; count -= 1) {
    const more = found.length - count;
    const text = [...found.slice(0, count), ...(more === 0 ? [] : [`${more} more`])].join(', ');
    if (text.length <= MOST_CHARACTERS) return text;
  }
  return found.length === 0 ? '' : `${found.length} packages`;
}
