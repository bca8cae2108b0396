import { createServer, type Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import { listen, stop } from '../features/forge/device.ts';
import type { TestDaemon } from '../device/daemon.ts';
import { createIpk } from '../device/ipk.ts';
import { simplePackage } from '../device/packages/package-parts.ts';
import { ask } from '../support/ask.ts';
import { openEvents } from '../support/event-reader.ts';

/** A forge that answers everything with so many bytes of JSON. */
export async function startForge(): Promise<{ url: string; server: Server }> {
  const body = JSON.stringify({ items: Array.from({ length: 500 }, (_, id) => ({ id })) });
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('Content-Type', 'application/json');
      response.setHeader('ETag', '"soak"');
      response.end(body);
    });
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, server };
}

export const stopForge = stop;

/** One round of each kind of work; counts what it asked. */
export type Work = (daemon: TestDaemon) => Promise<number>;

const READS = [
  '/healthz',
  '/metrics',
  'openapi.json',
  '',
  'admin/store/installed',
  'admin/store/status?package=demo',
  'admin/store/status?package=absent',
  'admin/store/get_block_devices',
  'admin/store/run_records',
  'admin/store/uid',
  'admin/system/tasks/status',
  'admin/system/tasks/status?task_id=latest',
  'admin/nowhere',
];

const reads: Work = async (daemon) => {
  for (const path of READS) await (await daemon.get(path)).arrayBuffer();
  return READS.length;
};

const packages: Work = async (daemon) => {
  for (const operation of ['update', 'install', 'autoconf', 'remove']) {
    const params = operation === 'update' ? {} : { package: 'demo' };
    const task = await daemon.submit(operation, params);
    const reader = await openEvents(
      `${daemon.url}${daemon.base}/admin/system/tasks/events?task_id=${task}`,
    );
    await reader.rest();
  }
  return 4;
};

const streams: Work = async (daemon) => {
  const url = `${daemon.url}${daemon.base}/admin/system/events`;
  const readers = await Promise.all(Array.from({ length: 5 }, () => openEvents(url)));
  await delay(200);
  for (const reader of readers) reader.close();
  return readers.length;
};

const uploads: Work = async (daemon) => {
  const form = new FormData();
  const { bytes } = createIpk(simplePackage('soaked'));
  form.append('file', new Blob([new Uint8Array(bytes), new Uint8Array(0)]), 'soaked.ipk');
  const answer = await fetch(`${daemon.url}${daemon.base}/admin/store/upload`, {
    method: 'POST',
    body: form,
  });
  const { task_id: id = '' } = (await answer.json()) as { task_id?: string };
  await daemon.finished(id);
  const undo = await daemon.submit('unrun', { id });
  await daemon.finished(undo);
  return 2;
};

const FORGE_PATHS = ['/version', '/repos/o/r/contents', '/repos/o/r/raw/a', '/nowhere'];

const forge: Work = async (daemon) => {
  for (const path of FORGE_PATHS) await ask(`${daemon.url}/api/v1${path}`);
  await ask(`${daemon.url}/api/v1/repos/o/r/contents/x`, { method: 'POST', form: { a: 'b' } });
  return FORGE_PATHS.length + 1;
};

/** What strangers send: refused, and nothing of it stays. */
const refused: Work = async (daemon) => {
  const at = (path: string): string => `${daemon.url}${daemon.base}/${path}`;
  await ask(at('admin/store/install?package=../x'), { method: 'POST' });
  await ask(at('admin/store/upload'), { method: 'POST', form: { a: 'b' } });
  await ask(at('admin/store/installed'), { headers: { host: 'evil.example' } });
  return 3;
};

export const WORKS: readonly Work[] = [reads, packages, streams, uploads, forge, refused];
