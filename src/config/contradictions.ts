import { isLocal, parseListenAddress } from './listen-address.ts';

/** Two options that do not go together: which ones, and why not. */
export interface Contradiction {
  /** `SECTION.OPTION`; the first is the one to change. */
  options: readonly [string, ...string[]];
  message: string;
}

/** The options that this file weighs. */
interface Weighed {
  main: { auth: string; listen: readonly string[] };
  container: { engine: string; start: readonly string[]; stop: readonly string[] };
}

/** What is wrong with values that are fine one by one. */
export function findContradictions({ main, container }: Weighed): Contradiction[] {
  const found: Contradiction[] = [];
  if (main.listen.length === 0) {
    found.push({
      options: ['main.listen'],
      message: 'cannot use main.listen: at least one address is needed',
    });
  }
  const open = main.listen.find((address) => !isLocal(parseListenAddress(address)));
  if (main.auth === 'none' && open !== undefined) {
    found.push({
      options: ['main.auth', 'main.listen'],
      message:
        `cannot use main.auth none with main.listen ${open}: ` +
        'only loopback and unix addresses may go without log-in',
    });
  }
  const { engine, start, stop } = container;
  if (engine === 'command' && (start.length === 0 || stop.length === 0)) {
    found.push({
      options: ['container.engine', 'container.start', 'container.stop'],
      message: 'cannot use container.engine command without container.start and container.stop',
    });
  }
  return found;
}
