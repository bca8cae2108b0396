import { gunzipSync } from 'node:zlib';

/** @param packed gzip in base64, as the build writes the pages' sources */
export function unpackText(packed: string): string {
  return gunzipSync(Buffer.from(packed, 'base64')).toString();
}
