import type { TaskStatus, TestDaemon } from '../../device/daemon.ts';

/** Sends a package file. @returns the id of the task */
export async function uploadFile(daemon: TestDaemon, bytes: Buffer, name: string): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(bytes)]), name);
  const address = `${daemon.url}${daemon.base}/admin/store/upload?token=${await daemon.token()}`;
  const answer = await fetch(address, { method: 'POST', body: form });
  const text = await answer.text();
  const { task_id: id } = JSON.parse(text) as { task_id?: string };
  if (id === undefined) throw new Error(`cannot upload: ${text}`);
  return id;
}

/** What the status of a task says beside what each says. */
export interface UndoStatus extends TaskStatus {
  can_undo?: boolean;
  no_undo?: string;
  kept_in?: string;
  confirm_by?: number;
}
