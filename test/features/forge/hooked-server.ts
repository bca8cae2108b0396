import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Activity, ConnectionHook } from '../../../src/http/connection-hook.ts';

/** Gives each new connection of the server to the hook, as the daemon's listeners do. */
export function putBefore(server: Server, hook: ConnectionHook): (() => Activity)[] {
  const connections: (() => Activity)[] = [];
  const serve = server.listeners('connection');
  const refuse = (socket: Socket): void => {
    const error = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    if (!server.emit('clientError', error, socket)) socket.destroy();
  };
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    const handOver = (): void => {
      for (const listener of serve) listener.call(server, socket);
    };
    connections.push(hook(socket, { handOver, refuseLate: () => refuse(socket) }));
  });
  return connections;
}
