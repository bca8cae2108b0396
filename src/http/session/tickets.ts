import { DepotError } from '../../errors.ts';
import { hashOf, newToken, sessionPart } from './sessions.ts';

/**
 * For what a browser opens by its address, which cannot carry a session's key: good once, for one
 * address, for seconds, and never for a change.
 */
export type Tickets = ReturnType<typeof createTickets>;

type TicketPath = ReturnType<typeof ticketPath>;

const GOOD_MS = 30_000;
/** A page opens a few; beyond this the oldest is good no more. */
const MOST_TICKETS = 256;

/** @param now milliseconds of a clock that is never set back */
export function createTickets(now: () => number = () => performance.now()) {
  /** Tickets by their hash, oldest first. */
  const tickets = new Map<string, { path: TicketPath; headers: Headers; issuedAt: number }>();
  const removeOld = (): void => {
    for (const [key, { issuedAt }] of tickets) {
      if (now() - issuedAt < GOOD_MS && tickets.size <= MOST_TICKETS) return;
      tickets.delete(key);
    }
  };
  return {
    /** @param headers those of the request that asks, whose session the ticket stands for */
    issue: (path: TicketPath, headers: Headers): string => {
      const ticket = newToken();
      tickets.set(hashOf(ticket), {
        path,
        headers: sessionPart((name) => headers.get(name)),
        issuedAt: now(),
      });
      removeOld();
      return ticket;
    },
    /** @returns the headers that the ticket was asked for with; undefined if it is not good here */
    redeem: (ticket: string, { pathname, searchParams }: URL): Headers | undefined => {
      removeOld();
      const found = tickets.get(hashOf(ticket));
      tickets.delete(hashOf(ticket));
      if (found === undefined) return undefined;
      const asked = new URLSearchParams(searchParams);
      asked.delete('ticket');
      const { path, headers } = found;
      const isQuery = path.query === '' || path.query === asked.toString();
      return path.pathname === pathname && isQuery ? headers : undefined;
    },
  };
}

/**
 * What a ticket is good for; without a query, whatever the query is.
 * @param wanted an address from the root, or from `base`, the root of the CGI path tree
 * @throws DepotError bad_request
 */
export function ticketPath(base: string, wanted: string) {
  const address = wanted.startsWith(`${base}/`) ? wanted : `${base}/${wanted.replace(/^\//, '')}`;
  const { pathname, searchParams, hash } = new URL(`http://localhost${address}`);
  if (hash !== '' || !pathname.startsWith(`${base}/admin/`)) {
    const message = 'cannot use the parameter for: the address of a read below admin/ is expected';
    throw new DepotError('bad_request', message);
  }
  return { pathname, query: searchParams.toString() };
}
