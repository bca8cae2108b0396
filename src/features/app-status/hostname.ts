import * as v from 'valibot';
import { HOST_PATTERN } from '../../http/host-patterns.ts';

/**
 * The name under which a browser reaches the device, as `location.hostname` has it, without port: a
 * DNS name in ASCII (an international one in its `xn--` form), an IPv4 address, or an IPv6 address
 * in brackets without zone, which would mean something on the client alone.
 */
export const hostname = v.pipe(
  v.string(),
  v.maxLength(253, 'at most 253 characters are allowed'),
  v.regex(
    new RegExp(`^${HOST_PATTERN}$`),
    'a DNS name, an IPv4 address, or an IPv6 address in brackets is expected, without port',
  ),
  v.toLowerCase(),
  v.brand('Hostname'),
);
export type Hostname = v.InferOutput<typeof hostname>;
