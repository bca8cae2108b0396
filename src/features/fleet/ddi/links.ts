import { DepotError } from '../../../errors.ts';

/** Where a device is at its server. */
export interface Address {
  /** `https://host[:port][/prefix]`, without a slash at its end. */
  server: string;
  tenant: string;
  controllerId: string;
}

/** The path of the device, and of what is below it. */
export function devicePath({ server, tenant, controllerId }: Address): string {
  return `${prefixOf(server)}/${tenant}/controller/v1/${controllerId}`;
}

/**
 * The path of a link, for one's own origin: hawkBit builds links from the request that it sees,
 * and behind a proxy they name another scheme, host and prefix.
 * @throws DepotError bad_request if it is none that could be asked for
 */
export function pathOfLink(href: string, { server, tenant }: Address): string {
  const url = URL.canParse(href, server) ? new URL(href, server) : undefined;
  const target = `${url?.pathname ?? ''}${url?.search ?? ''}`;
  if (!/^\/[\x21-\x7e]{1,4095}$/.test(target)) {
    throw new DepotError('bad_request', 'cannot follow a link: it has no path');
  }
  const known = target.indexOf(`/${tenant}/controller/v1/`);
  return known < 0 ? target : `${prefixOf(server)}${target.slice(known)}`;
}

/** The id of the action that a link of a poll is about. */
export function actionOfLink(kind: string, href: string): string {
  const id = new RegExp(`/${kind}/([A-Za-z0-9_-]{1,64})(?:[/?#]|$)`).exec(href)?.[1];
  if (id === undefined) {
    throw new DepotError('bad_request', `cannot read the poll: _links.${kind} names no action`);
  }
  return id;
}

/** What stands ahead of all paths of a server. */
export function prefixOf(server: string): string {
  return new URL(server).pathname.replace(/\/+$/, '');
}
