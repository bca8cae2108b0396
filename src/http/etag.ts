import { createHash } from 'node:crypto';

/** A strong entity tag (RFC 9110, section 8.8.3). */
export function etagOf(body: string | Uint8Array): string {
  return `"${createHash('sha1').update(body).digest('base64url')}"`;
}

/** What is sent with its tag, which is made when it is first sent. */
export function withTag<Sent extends string | Uint8Array>(
  body: Sent,
): { body: Sent; etag: string } {
  let made: string | undefined;
  return {
    body,
    get etag() {
      return (made ??= etagOf(body));
    },
  };
}
