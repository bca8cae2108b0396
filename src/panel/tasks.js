/**
 * What the page knows of the device's tasks, in the order in which the daemon got them. It hears of
 * all of them at once, or of one that changed; that one may lack what was known before, such as its
 * progress.
 * Invariant: what a change said stays, even if a list comes after it that was asked for before.
 * @param onEnd gets each task that was known to run, or not known, and has ended
 */
export function createTasks({ onChange, onEnd }) {
  let tasks = new Map();
  let changes = 0;
  let isLoaded = false;
  let isHistoryKnown = false;

  const notifyEnd = (task, before) => {
    if (!task.running && (before?.running ?? true)) onEnd(task);
  };
  return {
    /** What `replace` needs of the moment when the list was asked for. */
    now: () => changes,
    replace: (answer, askedAt) => {
      const before = tasks;
      const isNewer = (task) => task?.changedAt > askedAt;
      tasks = new Map(
        Object.entries(answer).map(([id, task]) => {
          const known = before.get(id);
          const kept = isNewer(known) ? known : { isStopping: known?.isStopping };
          return [id, { ...task, ...kept, id }];
        }),
      );
      for (const [id, task] of before) if (isNewer(task) && !tasks.has(id)) tasks.set(id, task);
      isLoaded = true;
      onChange();
      if (isHistoryKnown) for (const task of tasks.values()) notifyEnd(task, before.get(task.id));
      isHistoryKnown = true;
    },
    merge: (id, change) => {
      const before = tasks.get(id);
      changes += 1;
      const task = { ...before, ...change, id, changedAt: changes };
      tasks.set(id, task);
      onChange();
      notifyEnd(task, before);
    },
    /** Whether the list has come once. */
    isLoaded: () => isLoaded,
    get: (id) => tasks.get(id),
    /** What runs first, then what waits, the next one first, then what has ended, newest first. */
    ordered: () => {
      const all = [...tasks.values()];
      const running = all.filter((task) => task.running);
      return [
        ...running.filter(({ state }) => state !== 'queued'),
        ...running.filter(({ state }) => state === 'queued'),
        ...all.filter((task) => !task.running).reverse(),
      ];
    },
    /** The task that is to do something to this app, or does. */
    busyWith: (name) => [...tasks.values()].find((task) => task.running && task.package === name),
    isUpdating: () => [...tasks.values()].some(({ running, kind }) => running && kind === 'update'),
    countRunning: () => [...tasks.values()].filter(({ running }) => running).length,
    /** Tasks at work; those that wait for their turn are none of them. */
    countAtWork: () =>
      [...tasks.values()].filter(({ running, state }) => running && state !== 'queued').length,
  };
}
