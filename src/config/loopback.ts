import { isIP } from 'node:net';
import { canonicalAddress } from './ip-address.ts';

/** 127.0.0.0/8 (RFC 1122, section 3.2.1.3) or ::1 (RFC 4291, section 2.5.3), in any spelling. */
export function isLoopback(address: string | undefined): boolean {
  const plain = canonicalAddress(address ?? '');
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'));
}
