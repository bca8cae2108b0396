import type { PackageDescription } from '../packages/listing.ts';
import { appOf } from '../packages/names.ts';
import type { IndexRow } from './package-index.ts';

/** @param feed empty for what the device's own records say */
export function rowIn(described: PackageDescription, feed: string): IndexRow {
  const { name, isApp } = appOf(described.name);
  const { version, description, tags, section, downloadBytes, installedBytes, time } = described;
  return {
    ...{ name, isApp, version, description, tags, section, feed },
    ...{ downloadBytes, installedBytes, time },
    title: isApp ? titleIn(description) : '',
  };
}

const LONGEST_TITLE = 48;

/**
 * A feed has no titles. OpenWrt's builder writes a package's title as its description if there is
 * no longer one: one short line that is no sentence is a title.
 */
function titleIn(description: string): string {
  return description.length <= LONGEST_TITLE && !/\n|[.!?\u3002\uff01\uff1f]$/.test(description)
    ? description
    : '';
}
