import * as v from 'valibot';
import { isPresent, type PackageDatabase } from './database.ts';
import type { PackageManager } from './manager.ts';
import type { Failure } from './failure.ts';
import { ADVICE } from './problem.ts';

/** What stops working on a device when packages go, in the order in which it is said. */
export const CONSEQUENCES = {
  system: 'the device does not start without it',
  page: 'this page cannot be opened any more',
  network: 'the device loses its network',
  names: 'devices of the network find no names and get no addresses',
  firewall: 'the firewall stops',
  login: 'nobody can log in over SSH any more',
  firmware: 'it is part of the firmware, which may need it',
} as const;

type What = keyof typeof CONSEQUENCES;
const STOPPING = Object.keys(CONSEQUENCES) as readonly What[];

export const STOPS = v.pipe(
  v.array(v.object({ what: v.picklist(STOPPING), message: v.string() })),
  v.description('what stops working if it is removed, which takes system=1'),
);

/** `message`: a clause. */
export type Stopping = v.InferOutput<typeof STOPS>[number];

/** Names of packages; the second programs of a line count where the first is not installed. */
const SERVED_BY: readonly [What, RegExp, (RegExp | undefined)?][] = [
  ['system', /^(base-files|busybox|libc|musl|libgcc.*|kernel|procd.*|fstools|ubox)$/],
  ['system', /^(ubus|ubusd|uci|opkg|apk.*)$/],
  ['page', /^(depotd|depotd-node|node|luci-app-depotd|luci-base|rpcd|rpcd-mod-.*)$/],
  ['page', /^uhttpd(-mod-.*)?$/, /^(nginx|lighttpd)(-.*)?$/],
  ['network', /^(netifd|odhcp6c|odhcpd.*|ppp|ppp-mod-pppoe|wpad.*|hostapd.*|wpa-supplicant.*)$/],
  ['names', /^dnsmasq.*$/],
  ['firewall', /^(firewall4?|nftables-.*)$/],
  ['login', /^dropbear$/, /^openssh-server.*$/],
];

/** What serves LuCI's applications: if it came with one and nothing else needs it, it may go. */
const COMES_ALONG = /^(luci-base|rpcd-mod-.*)$/;

/** Whether the device stands on a package: the firmware brought it, or a service needs it. */
export function createSystemPackages(
  database: PackageDatabase,
  image: ReadonlySet<string>,
): (name: string) => readonly What[] {
  const present = [...database.values()].filter(isPresent).map(({ name }) => name);
  const served = SERVED_BY.map(([what, first, second]) => {
    const isFirstThere = second === undefined || present.some((name) => first.test(name));
    return { what, names: isFirstThere ? first : second };
  });
  return (name) => {
    const stopped = served.filter(({ names }) => names.test(name)).map(({ what }) => what);
    return stopped.length === 0 && image.has(name) ? ['firmware'] : stopped;
  };
}

/** What stops when these go, each once. @param targets those of them that were asked for */
export async function stoppingOf(
  { installed, imagePackages }: Pick<PackageManager, 'installed' | 'imagePackages'>,
  targets: readonly string[],
  names: readonly string[],
): Promise<{ names: string[]; stops: Stopping[] }> {
  const image = await imagePackages();
  const stoppedBy = createSystemPackages(await installed(), image);
  const mayGo = (name: string): boolean =>
    COMES_ALONG.test(name) && !targets.includes(name) && !image.has(name);
  const found = names.filter((name) => !mayGo(name) && stoppedBy(name).length > 0);
  const all = new Set(found.flatMap(stoppedBy));
  const stops = STOPPING.filter((what) => all.has(what));
  return { names: found, stops: stops.map((what) => ({ what, message: CONSEQUENCES[what] })) };
}

/** Why a removal is refused that was not asked for with `system`. */
export async function systemFailure(
  manager: Pick<PackageManager, 'installed' | 'imagePackages'>,
  targets: readonly string[],
  names: readonly string[],
): Promise<Failure | undefined> {
  const { names: found, stops } = await stoppingOf(manager, targets, names);
  const [first] = found;
  if (first === undefined) return undefined;
  const along = targets.includes(first) ? '' : `${found.join(', ')} would go with it: `;
  const reason = `${along}${stops.map(({ message }) => message).join('; ')}`;
  const about = targets.find((name) => found.includes(name)) ?? first;
  return { code: 'essential', package: about, reason, remedy: ADVICE.system };
}
