/**
 * The build bundles the pages' own sources and compresses them, since they are part of the daemon's
 * one file: gzip (RFC 1952) in base64, for `unpackText`.
 */
declare module '*.html' {
  const packed: string;
  export default packed;
}

declare module '*.css' {
  const packed: string;
  export default packed;
}
