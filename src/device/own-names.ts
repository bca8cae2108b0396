import { readFileSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { canonicalAddress } from '../config/ip-address.ts';
import { parseUciFile, type UciSection } from '../config/uci-file.ts';
import { fileVersionSync } from './file-version.ts';

const FRESH_MS = 1000;

/**
 * The names and addresses under which this device is known in its own network: `system.hostname`,
 * else the kernel's name; the same with dnsmasq's domains and with `.local` (RFC 6762); and every
 * address of an interface. Invariants:
 *  - a look is at most FRESH_MS old, so that a name which goes stops counting, too;
 *  - at most one look in FRESH_MS, whatever is asked: strange names cost no more than known ones;
 *  - a file is read again only when it has changed.
 */
export function createOwnNames(options: {
  /** Folder of the UCI files `system` and `dhcp`. */
  uciDir: string;
  /** The kernel's name, for devices without UCI. */
  kernelName?: () => string;
  /** The addresses of all interfaces, as networkInterfaces() of node:os writes them. */
  addresses?: () => string[];
  /** Milliseconds of a clock that is never set back. */
  now?: () => number;
}) {
  const { uciDir, kernelName = hostname, addresses = interfaceAddresses } = options;
  const { now = () => performance.now() } = options;
  const system = watchSections(join(uciDir, 'system'));
  const dhcp = watchSections(join(uciDir, 'dhcp'));
  let names = new Set<string>();
  let lookedAt = -Infinity;
  return {
    /**
     * A file that cannot be read gives no names.
     * @param name in lower case, without final dot, brackets or zone
     */
    has: (name: string): boolean => {
      if (now() - lookedAt >= FRESH_MS) {
        lookedAt = now();
        const own = namesOf(hostNameIn(system()) ?? kernelName(), domainsIn(dhcp()));
        names = new Set([...own, ...addresses().map(withoutZone).filter(isReachable)]);
      }
      return names.has(canonicalAddress(name));
    },
  };
}

const HOST_NAME = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/** A suffix goes to the first label: a host name may be written with its domain. */
function namesOf(hostName: string, domains: readonly string[]): string[] {
  const name = hostName.toLowerCase();
  const [label = ''] = name.split('.');
  const all = [name, `${label}.local`, ...domains.map((domain) => `${label}.${domain}`)];
  return all.filter((candidate) => HOST_NAME.test(candidate));
}

function hostNameIn(sections: readonly UciSection[]): string | undefined {
  const [name] = sections.filter(({ type }) => type === 'system').flatMap(valuesOf('hostname'));
  return name === undefined || name === '' ? undefined : name;
}

/** dnsmasq(8): `--domain=DOMAIN[,RANGE]`, `--local=/DOMAIN/…/`. */
function domainsIn(sections: readonly UciSection[]): string[] {
  const servers = sections.filter(({ type }) => type === 'dnsmasq');
  const domains = servers.flatMap(valuesOf('domain')).map((value) => value.split(',')[0] ?? '');
  const local = servers
    .flatMap(valuesOf('local'))
    .flatMap((value) => value.split('/').slice(1, -1));
  return [...domains, ...local].map((domain) => domain.toLowerCase());
}

function valuesOf(name: string): (section: UciSection) => string[] {
  return ({ options }) =>
    options.filter((option) => option.name === name).map(({ value }) => value);
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries = []) =>
    entries.map(({ address }) => address),
  );
}

function withoutZone(address: string): string {
  return canonicalAddress(address).replace(/%.*$/, '');
}

/** The loopback addresses count only for who called them, which the connection says. */
function isReachable(address: string): boolean {
  return !/^(127\.|::1$)/.test(address);
}

function watchSections(path: string): () => UciSection[] {
  let version: string | undefined;
  let sections: UciSection[] = [];
  return () => {
    const current = fileVersionSync(path);
    if (current === version) return sections;
    try {
      sections = current === undefined ? [] : parseUciFile(readFileSync(path, 'utf8')).sections;
      version = current;
    } catch {
      // Gone since it was looked at, or not readable: the next look tries again.
      sections = [];
      version = undefined;
    }
    return sections;
  };
}
