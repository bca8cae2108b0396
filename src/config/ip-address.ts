import { isIP } from 'node:net';

/**
 * One text for every spelling: IPv6 as RFC 5952 has it, and IPv4 mapped into IPv6 as IPv4 (RFC
 * 4291, sections 2.2 and 2.5.5.2). A zone stays (RFC 4007, section 11), and what is no address.
 */
export function canonicalAddress(address: string): string {
  if (!address.includes(':')) return address;
  // The kernel's own spelling, since each request asks.
  const dotted = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (dotted !== undefined && isIP(dotted) === 4) return dotted;
  if (isIP(address) !== 6) return address;
  const [plain = '', zone] = address.split('%');
  const text = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(text) ?? [];
  if (high !== undefined && low !== undefined) {
    const words = [high, low].map((word) => parseInt(word, 16));
    return words.flatMap((word) => [word >> 8, word & 0xff]).join('.');
  }
  return zone === undefined ? text : `${text}%${zone}`;
}

/** 127.0.0.0/8 (RFC 1122, section 3.2.1.3) or ::1 (RFC 4291, section 2.5.3), in any spelling. */
export function isLoopback(address: string | undefined): boolean {
  const plain = canonicalAddress(address ?? '');
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'));
}
