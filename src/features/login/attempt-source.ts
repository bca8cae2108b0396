import { lstatSync } from 'node:fs';
import type { Context } from 'hono';
import type { PeerUsers } from '../../device/peer-user.ts';
import { networkOf } from '../../http/network.ts';
import { clientOf, socketOf, type Client } from '../../http/peer.ts';
import type { Session } from '../../http/route.ts';
import type { Limit, Limits } from './attempt-limit.ts';

/** Whose log-in attempt it is, and what it is held to. */
export interface AttemptSource {
  /** Address of the client, for the log. */
  address: string;
  limits: Limits;
  /** Does not stand behind strangers. */
  isTrusted: boolean;
  /** Whom it stands in line with: each client has its turn, however often another one asks. */
  client: string;
}

const MOST_WRONG = 10;
/** Wrong passwords of all addresses of one IPv6 site. */
const MOST_WRONG_A_SITE = 40;
/** Over loopback, of all clients that one user of this host names. */
const MOST_WRONG_A_USER = 30;
/** Root needs no guesses; a program that keeps giving a wrong password must end somewhere. */
const MOST_WRONG_OF_ROOT = 60;

/**
 * Strangers do not lock out the owner: each of these counts by itself.
 *  - Who has a session, by user, wherever it comes from.
 *  - Root on this device, known by a unix socket that only root can connect to.
 *  - A client that a proxy names over such a socket, or that connects from the network.
 *  - Over loopback any user of this host may name any client: each client of each user, and each
 *    user in all.
 */
export async function attemptSource(
  context: Context,
  { session, peerUsers }: { session: Session | undefined; peerUsers: PeerUsers },
): Promise<AttemptSource> {
  const client = clientOf(context);
  const { address } = client;
  const trusted = (own: Limit): AttemptSource => ({
    address,
    limits: [own],
    isTrusted: true,
    client: own.key,
  });
  if (session !== undefined) return trusted({ key: `user ${session.user}`, most: MOST_WRONG });
  if (isRoot(client)) return trusted({ key: 'root', most: MOST_WRONG_OF_ROOT });
  const limits =
    client.via === 'loopback'
      ? loopbackLimits(client, await peerUsers(socketOf(context) ?? {}))
      : networkLimits(client);
  return { address, limits, isTrusted: false, client: limits[0].key };
}

/** Whether only root, or the daemon's own user, can have sent it; a proxy may be root, too. */
export function isRoot({ socketPath, isForwarded }: Client): boolean {
  if (socketPath === undefined || isForwarded) return false;
  const { uid, mode } = lstatSync(socketPath, { throwIfNoEntry: false }) ?? { uid: -1, mode: 0 };
  return uid === process.getuid?.() && (mode & 0o077) === 0;
}

function loopbackLimits({ address, isForwarded }: Client, userId: number | undefined): Limits {
  const user = `local ${userId ?? 'unknown'}`;
  return [
    { key: `${user} as ${networkOf(address)}`, most: MOST_WRONG },
    { key: `${user} ${isForwarded ? 'for others' : 'itself'}`, most: MOST_WRONG_A_USER },
  ];
}

function networkLimits({ address }: Client): Limits {
  const site = networkOf(address, 48);
  const own = { key: networkOf(address), most: MOST_WRONG };
  return site === address ? [own] : [own, { key: site, most: MOST_WRONG_A_SITE }];
}
