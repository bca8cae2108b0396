import { isIPv4, isIPv6 } from 'node:net';
import * as v from 'valibot';

/**
 * The name under which a browser reaches the device, as `location.hostname` has it, without port: a
 * DNS name in ASCII (an international one in its `xn--` form), an IPv4 address, or an IPv6 address
 * in brackets without zone, which would mean something on the client alone.
 */
export const hostname = v.pipe(
  v.string(),
  v.maxLength(253, 'at most 253 characters are allowed'),
  v.check(
    isHostname,
    'a DNS name, an IPv4 address, or an IPv6 address in brackets is expected, without port',
  ),
  v.toLowerCase(),
  v.brand('Hostname'),
);
export type Hostname = v.InferOutput<typeof hostname>;

/**
 * Letters, digits, hyphens and underscores, no hyphen at either end (RFC 1123, section 2.1; the
 * underscore occurs in home networks).
 */
const LABEL = /^(?!-)[A-Za-z0-9_-]{1,63}(?<!-)$/;

function isHostname(text: string): boolean {
  const bracketed = /^\[([0-9A-Fa-f:.]+)\]$/.exec(text)?.[1];
  if (bracketed !== undefined) return isIPv6(bracketed);
  const labels = text.split('.');
  // What ends in a number is an IPv4 address or nothing (URL standard, "ends in a number").
  if (/^\d+$/.test(labels.at(-1) ?? '')) return isIPv4(text);
  return labels.every((label) => LABEL.test(label));
}
