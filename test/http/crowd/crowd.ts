import { connect, type Socket } from 'node:net';

/** What each of a crowd does with its connection. */
export interface Manner {
  /** Sent at once. */
  text: string;
  /** Sent again and again. */
  drop: string;
  everyMs: number;
}

export interface CrowdOptions {
  port: number;
  host: string;
  /** The addresses that they come from. */
  from: readonly string[];
  /** Connections of each address. */
  each: number;
  manners: readonly Manner[];
}

/** Clients that hold connections, and come again as soon as one is closed. */
export interface Crowd {
  open: () => number;
  leave: () => void;
}

/** Whoever is refused comes again after so long. */
const AGAIN_MS = 100;

export function gather({ port, host, from, each, manners }: CrowdOptions): Crowd {
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  let hasLeft = false;
  const come = (localAddress: string, { text, drop, everyMs }: Manner): void => {
    if (hasLeft) return;
    const socket = connect({ port, host, localAddress }, () => {
      sockets.add(socket);
      socket.write(text);
    });
    const timer = setInterval(() => drop !== '' && socket.writable && socket.write(drop), everyMs);
    timers.add(timer);
    socket
      .on('error', () => undefined)
      .resume()
      .on('close', () => {
        clearInterval(timer);
        timers.delete(timer);
        sockets.delete(socket);
        setTimeout(() => come(localAddress, { text, drop, everyMs }), AGAIN_MS);
      });
  };
  for (const address of from) {
    for (let index = 0; index < each; index += 1) {
      const manner = manners[index % manners.length];
      if (manner !== undefined) come(address, manner);
    }
  }
  return {
    open: () => sockets.size,
    leave: () => {
      hasLeft = true;
      for (const timer of timers) clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}
