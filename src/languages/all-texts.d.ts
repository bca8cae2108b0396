/** The build's: what each file of texts beside this one is, gzip (RFC 1952) in base64. */
declare module '*/all.texts' {
  const packed: Readonly<Record<string, { name: string; tags: string; packed: string }>>;
  export default packed;
}
