/** The pages' own sources, bundled and compressed: gzip (RFC 1952) in base64, for `unpackText`. */
declare module '*.html' {
  const packed: string;
  export default packed;
}

declare module '*.client.js' {
  const packed: string;
  export default packed;
}

declare module '*.css' {
  const packed: string;
  export default packed;
}
