/**
 * Whether whoever asks reads gzip (RFC 9110, section 12.5.3). No header says that any coding is
 * fine; a program that reads none mostly sends none, so that it gets the plain text.
 * @param header value of Accept-Encoding, empty if there is none
 */
export function acceptsGzip(header: string): boolean {
  const weights = new Map(
    header.split(',').map((entry) => {
      const [coding = '', ...parameters] = entry.split(';').map((text) => text.trim());
      const weight = parameters.find((text) => /^q=/i.test(text))?.slice(2);
      return [coding.toLowerCase(), weight === undefined ? 1 : Number(weight)];
    }),
  );
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}
