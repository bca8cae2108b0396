import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { findCollector, type Collect } from './young-collector.ts';

/**
 * When the garbage of the start is released, and how often the daemon looks for more while anybody
 * is connected, and once behind the last. At rest nothing wakes it.
 */
const START_MS = 1000;
const CHECK_MS = 2000;
/** Small collections that precede the first full one, each less than a millisecond. */
const CALM_COLLECTIONS = 14;
const CALM_MS = 30;
/** Growth of the heap worth a clean-up: below it a collection would find little. */
const WORTH_BYTES = 3 * 1024 ** 2;

/** What the start or a burst of work allocated: V8 collects when it must, not when it is idle. */
export function releaseMemory(onStarted: () => void): void {
  let clean = Infinity;
  const collect = (collectNow: () => void): void => {
    collectNow();
    clean = getHeapStatistics().used_heap_size;
  };
  setTimeout(() => {
    onStarted();
    setMemoryFlags();
    shrinkNursery((gc) => collect(() => releaseDropped(gc)));
  }, START_MS).unref();
  whileConnected(() => {
    if (getHeapStatistics().used_heap_size > clean + WORTH_BYTES) collect(findCollector());
  });
}

function whileConnected(check: () => void): void {
  let connected = 0;
  let timer: NodeJS.Timeout | undefined;
  const go = (): void => {
    check();
    if (connected > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  subscribe('net.server.socket', (message) => {
    const { socket } = message as { socket: Socket };
    connected += 1;
    socket.once('close', () => (connected -= 1));
    timer ??= setInterval(go, CHECK_MS).unref();
  });
}

/**
 * V8's own choices suit large machines. docs/decisions/0003-v8-flags-and-collections.md has what
 * each flag saves. Not before the start is over: V8 takes no kept code, that of Node's own modules
 * included, while a flag differs from what the code was made with.
 */
function setMemoryFlags(): void {
  // V8 doubles its nursery under load and keeps it; a small device needs the memory more.
  setFlagsFromString('--semi-space-growth-factor=1');
  // And it lets the heap double before it cleans up, and keeps half-empty pages, though what a busy
  // daemon adds (package databases read anew) is nearly all garbage.
  setFlagsFromString('--heap-growing-percent=20');
  setFlagsFromString('--optimize-for-size');
}

/**
 * The start made the nursery grow from 1 to 4 MiB. V8 halves it with a full collection, but only if
 * little was allocated between the ten before it: so small ones go ahead, and a full one more.
 */
function shrinkNursery(collectAll: (gc: Collect) => void): void {
  const gc = findCollector();
  let left = CALM_COLLECTIONS;
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) {
      gc({ type: 'minor' });
    } else {
      clearInterval(timer);
      gc();
      gc({ type: 'minor' });
      collectAll(gc);
    }
  }, CALM_MS).unref();
}

/** For who has dropped megabytes outside V8's heap, which it frees with the second collection. */
export function releaseDropped(gc = findCollector()): void {
  gc();
  gc();
}
