import { PING_MS, type StreamEvent } from './event-stream.ts';

/** What happens on the device, for everybody who follows it. */
export type DeviceEvents = ReturnType<typeof createDeviceEvents>;

export interface DeviceEvent {
  event: string;
  /** Of events with the same key a slow follower gets only the newest. */
  key?: string;
  data: unknown;
}

export function createDeviceEvents() {
  const listeners = new Set<(event: DeviceEvent) => void>();
  return {
    publish: (event: DeviceEvent): void => {
      for (const listener of listeners) listener(event);
    },
    /** Returns how to end it. */
    subscribe: (listener: (event: DeviceEvent) => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Events without a key that a follower may be behind; older ones are dropped, for the memory. */
const MOST_BEHIND = 1000;

export async function* followDevice(
  events: DeviceEvents,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent | undefined, void> {
  const waiting = new Map<string, DeviceEvent>();
  let wake: () => void = () => undefined;
  let count = 0;
  const unsubscribe = events.subscribe((event) => {
    count += 1;
    const key = event.key ?? `#${count}`;
    waiting.delete(key);
    waiting.set(key, event);
    const [oldest] = waiting.keys();
    if (waiting.size > MOST_BEHIND && oldest !== undefined) waiting.delete(oldest);
    wake();
  });
  const onAbort = (): void => wake();
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      const [next] = waiting;
      if (next !== undefined) {
        waiting.delete(next[0]);
        yield { event: next[1].event, data: next[1].data };
        continue;
      }
      let timer: NodeJS.Timeout | undefined;
      const isQuiet = await new Promise<boolean>((resolve) => {
        wake = () => resolve(false);
        timer = setTimeout(resolve, PING_MS, true);
      });
      clearTimeout(timer);
      if (isQuiet) yield undefined;
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', onAbort);
  }
}
