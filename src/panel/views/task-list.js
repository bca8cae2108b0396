/**
 * What the page knows of the device's tasks, in the order in which the daemon took them. It is told
 * of all of them at once, or of one that changed; that one may lack what was known before, such as
 * its progress.
 * @param onEnd gets each task that was known to run, or not known, and has ended
 */
export function createTaskList({ onChange, onEnd }) {
  let tasks = new Map();
  let isLoaded = false;

  const notifyEnd = (task, before) => {
    if (!task.running && (before?.running ?? true)) onEnd(task);
  };
  return {
    replace: (byId) => {
      const before = tasks;
      tasks = new Map(
        Object.entries(byId).map(([id, task]) => [
          id,
          { ...task, id, isStopping: before.get(id)?.isStopping },
        ]),
      );
      onChange();
      // The first list is history.
      if (isLoaded) for (const task of tasks.values()) notifyEnd(task, before.get(task.id));
      isLoaded = true;
    },
    merge: (id, change) => {
      const before = tasks.get(id);
      const task = { ...before, ...change, id };
      tasks.set(id, task);
      onChange();
      notifyEnd(task, before);
    },
    /** Whether the list has come once. */
    isLoaded: () => isLoaded,
    get: (id) => tasks.get(id),
    newestFirst: () => [...tasks.values()].reverse(),
    /** The task that is to do something to this app, or does. */
    busyWith: (name) => [...tasks.values()].find((task) => task.running && task.package === name),
    isAnyRunning: () => [...tasks.values()].some(({ running }) => running),
  };
}
