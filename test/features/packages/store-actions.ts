import type { TaskStatus, TestDaemon } from '../../device/daemon.ts';

/** What the tests of the store do with its daemon, whatever the package manager. */
export interface StoreActions {
  /** Starts an operation and waits for its end. */
  readonly run: (
    operation: string,
    params?: Readonly<Record<string, string>>,
  ) => Promise<TaskStatus & { id: string; log: string }>;
  readonly installed: () => Promise<Record<string, unknown>[]>;
  readonly statusOf: (name: string) => Promise<Record<string, unknown>>;
}

export function storeActions(daemon: TestDaemon): StoreActions {
  return {
    run: async (operation, params) => {
      const id = await daemon.submit(operation, params);
      const status = await daemon.finished(id);
      return { ...status, id, log: await daemon.logOf(id) };
    },
    installed: async () =>
      (await (await daemon.get('admin/store/installed')).json()) as Record<string, unknown>[],
    statusOf: async (name) =>
      (await (await daemon.get(`admin/store/status?package=${name}`)).json()) as Record<
        string,
        unknown
      >,
  };
}
