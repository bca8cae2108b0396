/** The forge's address, parsed once. */
export interface UpstreamAddress {
  isTls: boolean;
  /** Name or address for the connection; an IPv6 address without brackets. */
  hostname: string;
  port: number;
  /** Value of the `Host` header. */
  host: string;
  /** Path before the API root, without a slash at its end; empty for none. */
  prefix: string;
}

/** @param text the checked option `forge.upstream`: `https://host[:port][/prefix]` */
export function parseUpstream(text: string): UpstreamAddress {
  const url = new URL(text);
  const isTls = url.protocol === 'https:';
  const standardPort = isTls ? 443 : 80;
  return {
    isTls,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? standardPort : Number(url.port),
    host: url.host,
    prefix: url.pathname.replace(/\/+$/, ''),
  };
}
