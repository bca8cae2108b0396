/**
 * What the page knows of the device's tasks, in the order in which the daemon took them. It is told of all of them at once, or of one that
 * changed; that one may lack what was known before, such as its progress.
 */
export function createTaskList(onChange) {
  let tasks = new Map();
  let isLoaded = false;
  return {
    replace: (byId) => {
      isLoaded = true;
      tasks = new Map(Object.entries(byId).map(([id, task]) => [id, { ...task, id, isStopping: tasks.get(id)?.isStopping }]));
      onChange();
    },
    merge: (id, task) => {
      tasks.set(id, { ...tasks.get(id), ...task, id });
      onChange();
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
