import { canonicalAddress } from '../config/ip-address.ts';

/**
 * Whom an address stands for. An IPv6 host may have every address of its /64 (RFC 4291, section
 * 2.5.4), so those count as one; and a site every /64 of its /48 (RFC 6177, section 2).
 * @param address in any spelling; IPv4 that is mapped into IPv6 is IPv4
 * @param bits of an IPv6 address that count
 */
export function networkOf(address: string, bits: 64 | 48 = 64): string {
  const plain = canonicalAddress(address).replace(/%.*$/, '');
  if (!plain.includes(':')) return plain;
  const halves = plain.split('::').map((half) => half.split(':').filter(Boolean));
  const [leading = [], trailing = []] = halves;
  const zeros = Array<string>(Math.max(0, 8 - leading.length - trailing.length)).fill('0');
  const groups = [...leading, ...zeros, ...trailing];
  return `${groups.slice(0, bits / 16).join(':')}::/${bits}`;
}
