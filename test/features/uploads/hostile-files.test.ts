import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { residentMb } from '../../bench/measures.ts';
import { createTar } from '../../device/tar.ts';
import { createUploadDevice, type UploadDevice } from './upload-device.ts';

/** Small files that would fill the memory, sent to a daemon that has as much as on a device. */
const AS_STARTED = { nodeFlags: ['--max-old-space-size=64'] };

let on: UploadDevice;
beforeAll(async () => (on = await createUploadDevice({}, AS_STARTED)));
afterAll(() => on.close());

/** @returns the status of the answer */
async function send(operation: string, file: Buffer, name = 'file'): Promise<number> {
  const form = new FormData();
  form.append('file', new Blob([file]), name);
  const url = `${on.daemon.url}${on.daemon.base}/admin/store/${operation}`;
  return (await fetch(url, { method: 'POST', body: form })).status;
}

test('advisories of which each is none take no memory', async () => {
  const before = residentMb(on.daemon.pid);
  const body = `advisories=[${Array.from({ length: 19_000 }, () => '{}').join(',')}]`;
  const answer = await fetch(`${on.daemon.url}${on.daemon.base}/admin/system/advisories`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `${body}&token=${await on.daemon.token()}`,
  });

  expect(answer.status).toBe(400);
  expect(residentMb(on.daemon.pid, 'VmHWM') - before).toBeLessThan(32);
});

test('a backup in whose list everything is wrong is refused', async () => {
  const files = Array.from({ length: 300_000 }, () => ({}));
  const content = Buffer.from(JSON.stringify({ format: 1, files }));
  const backup = gzipSync(createTar([{ name: 'manifest.json', mode: 0o600, content }]));

  expect(await send('add_backup', backup)).toBe(400);
});
