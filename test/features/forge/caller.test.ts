import type { Socket } from 'node:net';

import { expect, test } from 'vitest';

import { callerView } from '../../../src/features/forge/caller.ts';

const LISTENER = { address: () => ({ address: '0.0.0.0', port: 8728, family: 'IPv4' }) };
const UNIX_LISTENER = { address: () => '/run/depotd.sock' };

test.each([
  ['from this host', { remoteAddress: '127.0.0.1', server: LISTENER }, 'https'],
  ['over a unix socket', { server: UNIX_LISTENER }, 'https'],
  ['from another host', { remoteAddress: '192.0.2.1', server: LISTENER }, 'http'],
  ['that has gone', { server: LISTENER }, 'http'],
])(
  'that TLS ends before the device is believed of a connection %s only if it is local',
  (_name, socket, scheme) => {
    const headers = { host: 'router', 'x-forwarded-proto': 'https' };
    const request = {
      method: 'GET',
      url: '/api/v1/version',
      rawHeaders: [],
      headers,
      socket: socket as unknown as Socket,
    };
    const target = { mount: '', path: '/version', query: '' };

    expect(callerView(request, { apiRoot: '/api/v1', target }).origin).toBe(`${scheme}://router`);
  },
);
