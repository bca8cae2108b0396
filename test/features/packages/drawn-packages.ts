import type { FeedPackage } from '../../device/feed-index.ts';
import { ARCHITECTURE } from '../../device/packages/packages.ts';
import type { Random } from '../../support/random.ts';

/** A request to change packages, and what happened to the device before it. */
export interface DrawnRequest {
  operation: 'install' | 'remove' | 'upgrade';
  names: string[];
}

/** Names that a drawn feed has, and one that it never has. */
export const DRAWN_NAMES = Array.from({ length: 14 }, (_, index) => `pkg${index}`);
const VIRTUAL_NAMES = ['virtual-a', 'virtual-b'];
const ABSENT_NAME = 'absent';

/**
 * A feed in which packages need, exclude, replace and stand for each other.
 * @param release raises some of the versions, and changes what these need
 * @param hostility how often packages cannot be had together, 1 by default
 */
export function drawFeed(random: Random, release: number, hostility = 1): FeedPackage[] {
  const chance = (percent: number): boolean => random.below(100) < percent;
  const mishap = (percent: number): boolean => random.below(1000) < percent * 10 * hostility;
  const pickName = (): string => random.pick(asTuple(DRAWN_NAMES));
  const relation = (): string => {
    const name = chance(15) ? random.pick(asTuple(VIRTUAL_NAMES)) : pickName();
    if (mishap(1)) return ABSENT_NAME;
    return mishap(8)
      ? `${name} (${random.pick(['>=', '=', '<<', '<=', '>>'])} ${versionOf(random)})`
      : name;
  };
  const dependency = (): string => (chance(20) ? `${relation()} | ${relation()}` : relation());
  return DRAWN_NAMES.filter(() => chance(95)).flatMap((name) => {
    const isNew = release > 1 && chance(60);
    const depends = Array.from({ length: random.below(3) }, dependency);
    const fields: Record<string, string> = { Depends: ['libc', ...depends].join(', ') };
    if (mishap(5)) fields.Conflicts = pickName();
    if (chance(15)) fields.Provides = random.pick(asTuple(VIRTUAL_NAMES));
    if (mishap(4)) {
      const other = pickName();
      Object.assign(fields, { Conflicts: other, Replaces: other });
    }
    const architecture = mishap(2) ? 'mips_24kc' : random.pick(['all', ARCHITECTURE]);
    return {
      name,
      version: isNew ? `${release}.0-1` : '1.0-1',
      architecture,
      fields,
      files: { [`/usr/share/${name}`]: name.repeat(1 + random.below(500)) },
      ...(mishap(2) ? { installedSizeBytes: 1e12 } : {}),
    };
  });
}

function versionOf(random: Random): string {
  return random.pick(['1.0-1', '2.0-1', '3.0-1']);
}

export function drawRequest(random: Random, present: readonly string[]): DrawnRequest {
  const operation = random.pick(['install', 'install', 'install', 'upgrade', 'remove'] as const);
  const pool = operation === 'install' ? [...DRAWN_NAMES, ABSENT_NAME] : present;
  const names = Array.from({ length: 1 + random.below(3) }, () => random.pick(asTuple(pool)));
  return { operation, names: [...new Set(names)] };
}

export function asTuple<Item>(items: readonly Item[]): [Item, ...Item[]] {
  const [first, ...rest] = items;
  if (first === undefined) throw new Error('cannot draw from nothing');
  return [first, ...rest];
}
