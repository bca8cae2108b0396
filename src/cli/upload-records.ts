import { DepotError } from '../errors.ts';
import type { Client } from './daemon-client.ts';

/** A file that was sent and installed. */
export interface UploadRecord {
  id: string;
  /** Unix time. */
  ts: number;
  file: string;
}

export async function readUploads(client: Client): Promise<UploadRecord[]> {
  const { records } = (await client.get('admin/store/run_records')) as { records: UploadRecord[] };
  return records;
}

/** @param start of the id @throws DepotError not_found; bad_request if several begin so */
export async function findUpload(client: Client, start: string): Promise<string> {
  const [first, second] = (await readUploads(client)).filter(({ id }) => id.startsWith(start));
  if (first === undefined) {
    throw new DepotError(
      'not_found',
      `cannot find ${start}: "depotctl jobs" lists tasks, "depotctl uploads" what was sent`,
    );
  }
  if (second !== undefined) {
    const message = `cannot tell which upload ${start} is: ${first.id}, ${second.id}`;
    throw new DepotError('bad_request', message);
  }
  return first.id;
}
