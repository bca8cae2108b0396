import { watch, type FSWatcher } from 'node:fs';

/** How often the fallback looks. */
const POLL_MS = 500;

/**
 * Calls `onChange` when the file, or what lies in the folder, changes. A user has a limited number
 * of inotify instances and watches (inotify(7)), which containers may have used up, and a file may
 * not be there yet: `onChange` is then called every POLL_MS, so it must look for itself whether
 * anything has changed.
 * @param onChange gets the name of what changed in a folder, if the system tells it
 */
export function watchPath(path: string, onChange: (name?: string) => void): { close: () => void } {
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  const poll = (): void => {
    timer ??= setInterval(() => onChange(), POLL_MS).unref();
  };
  try {
    watcher = watch(path, { persistent: false }, (_, name) => onChange(name ?? undefined));
    watcher.on('error', poll);
  } catch {
    poll();
  }
  return {
    close: () => {
      watcher?.close();
      clearInterval(timer);
    },
  };
}
