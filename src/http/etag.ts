import { createHash } from 'node:crypto';

/** A strong entity tag (RFC 9110, section 8.8.3). */
export function etagOf(body: string | Uint8Array): string {
  return `"${createHash('sha1').update(body).digest('base64url')}"`;
}
