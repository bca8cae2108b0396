import type { FeedPackage } from '../feed-index.ts';
import { awkwardPackages, tinyPackages } from './awkward-packages.ts';
import { appPackages, type FeedVersion } from './packages.ts';

const made = new Map<FeedVersion, readonly FeedPackage[]>();

/** What a device's feed has, always the same objects: each is packed once in a process. */
export function usualPackages(version: FeedVersion): readonly FeedPackage[] {
  const packages = made.get(version) ?? [
    ...appPackages(version),
    ...awkwardPackages(),
    ...tinyPackages(),
  ];
  made.set(version, packages);
  return packages;
}
