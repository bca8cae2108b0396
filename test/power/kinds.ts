import type { Parameters, TestDaemon } from '../device/daemon.ts';
import type { FeedVersion } from '../device/packages/packages.ts';
import { createIpk } from '../device/ipk.ts';
import { APP, LIBRARY, SENT, sentPackage } from './packages.ts';

/** Which version of a package is to be there when the job is done; none if it is removed. */
export type Expected = Readonly<Record<string, FeedVersion | undefined>>;

/** One kind of job whose power is cut. */
export interface Kind {
  /** What was done before, each to its end. */
  before: readonly Step[];
  /** The version of the feed during the job. */
  feed: FeedVersion;
  job: Step;
  expected: Expected;
}

/** @returns the id of the job's task */
export type Step = (daemon: TestDaemon) => Promise<string>;

const submit =
  (operation: string, params: Parameters = {}): Step =>
  (daemon) =>
    daemon.submit(operation, params);

const INSTALL = submit('install', { package: APP });

const upload: Step = async (daemon) => {
  const ipk = createIpk(sentPackage());
  const form = new FormData();
  form.set('token', await daemon.token());
  form.set('file', new Blob([new Uint8Array(ipk.bytes)]), ipk.fileName);
  const url = `${daemon.url}${daemon.base}/admin/store/upload`;
  const answer = await fetch(url, { method: 'POST', body: form });
  return taskOf(await answer.json());
};

const undoUpload: Step = async (daemon) => {
  const records = (await (await daemon.get('admin/store/run_records')).json()) as {
    records: { id: string }[];
  };
  const [record] = records.records;
  // Taken again after it was done, there is no record any more.
  return record === undefined ? '' : daemon.submit('unrun', { id: record.id });
};

function taskOf(answer: unknown): string {
  const { task_id: taskId } = answer as { task_id?: string };
  if (taskId === undefined) throw new Error(`no task: ${JSON.stringify(answer)}`);
  return taskId;
}

export const KINDS: Readonly<Record<string, Kind>> = {
  install: { before: [], feed: 1, job: INSTALL, expected: { [APP]: 1, [LIBRARY]: 1 } },
  upgrade: {
    before: [INSTALL],
    feed: 2,
    job: submit('upgrade', { package: APP }),
    expected: { [APP]: 2 },
  },
  remove: {
    before: [INSTALL],
    feed: 1,
    job: submit('remove', { package: APP }),
    expected: { [APP]: undefined },
  },
  upload: { before: [], feed: 1, job: upload, expected: { [SENT]: 1 } },
  undo: { before: [upload], feed: 1, job: undoUpload, expected: { [SENT]: undefined } },
  update: {
    before: [INSTALL],
    feed: 2,
    job: submit('update'),
    expected: { [APP]: 1, [LIBRARY]: 1 },
  },
};
