import * as v from 'valibot';

/** Files of a package manager by which sets tell managers and releases apart. */
interface ManagerFiles {
  /** Its settings: no device with another manager has a use for them. */
  settings: RegExp;
  keys: string;
  ownerFeeds: string;
  /** The firmware's own feeds: those of another release are not for this one. */
  firmwareFeeds: string;
  /** The line of a feed of the owner's. */
  lineOf: (feed: { name: string; url: string }) => string;
  /** Its database, which no set has: a pattern from the root on. */
  database: string;
}

const OPKG: ManagerFiles = {
  settings: /^\/etc\/opkg(?:\.conf$|\/)/,
  keys: '/etc/opkg/keys/',
  ownerFeeds: '/etc/opkg/customfeeds.conf',
  firmwareFeeds: '/etc/opkg/distfeeds.conf',
  lineOf: ({ name, url }) => `src/gz ${name} ${url}`,
  database: 'usr/lib/opkg(?:/|$)',
};

const APK: ManagerFiles = {
  settings: /^\/etc\/apk\//,
  keys: '/etc/apk/keys/',
  ownerFeeds: '/etc/apk/repositories.d/customfeeds.list',
  firmwareFeeds: '/etc/apk/repositories.d/distfeeds.list',
  lineOf: ({ url }) => url,
  database: 'lib/apk(?:/|$)|etc/apk/world',
};

/** The files of each package manager, by its name; a further one is a further entry. */
const ALL: Readonly<Record<string, ManagerFiles>> = { opkg: OPKG, apk: APK };

export const MANAGER_FILES = Object.values(ALL);

export const managerName = v.picklist(Object.keys(ALL));

export function filesOfManager(name: string): ManagerFiles {
  return ALL[name] ?? OPKG;
}
