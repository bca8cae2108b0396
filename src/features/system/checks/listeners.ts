import type { Config } from '../../../config/config.ts';
import { isLocal, parseListenAddress } from '../../../config/listen-address.ts';
import type { DeviceCheck, Finding } from '../../device-check.ts';

/** Who reaches the daemon, and how they log in. It speaks plain HTTP on every address. */
export function listenersCheck({ main }: Config): DeviceCheck {
  return { id: 'listeners', run: () => Promise.resolve(judge(main)) };
}

function judge({ listen, auth, base }: Config['main']): Finding {
  const open = listen.filter((address) => !isLocal(parseListenAddress(address)));
  if (open.length > 0) {
    return {
      state: 'warning',
      message:
        `${open.join(', ')} can be reached from the network by plain HTTP, with log-in by ` +
        `${LOG_INS[auth]}: whoever listens on the way reads passwords and sessions`,
      remedy:
        'listen on 127.0.0.1 alone and let a web server with TLS stand before it, or keep the ' +
        'address to a network that you trust',
    };
  }
  const local = listen.filter((address) => parseListenAddress(address).kind === 'tcp');
  if (auth === 'none' && local.length > 0) {
    return {
      state: 'warning',
      message: `every program on this device may change everything by way of ${local.join(', ')}`,
      remedy: 'set main.auth to panel or password, or listen on unix:PATH, which is for root alone',
    };
  }
  const who = auth === 'none' ? 'without log-in' : `with log-in by ${LOG_INS[auth]}`;
  return {
    state: 'ok',
    message: `only this device reaches ${listen.join(', ')}, ${who}; others come through ${base}`,
  };
}

const LOG_INS: Record<Config['main']['auth'], string> = {
  panel: "the panel's session",
  password: "depotd's password",
  none: 'nothing',
};
