import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { request as httpRequest, type ClientRequest } from 'node:http';
import { join } from 'node:path';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import type { DaemonOptions } from '../../device/daemon-process.ts';
import { createDevice, type Device, type DeviceOptions } from '../../device/device.ts';
import { createIpk, type PackageSource } from '../../device/ipk.ts';
import { simplePackage } from '../../device/packages/package-parts.ts';

/** The beginning of a form with a program in it, and its type. */
export const HEAD =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.run"\r\n\r\n#!/bin/sh\n';
export const FORM = { 'content-type': 'multipart/form-data; boundary=b' };

export interface SentFile {
  name: string;
  content: string | Uint8Array;
  /** `file` by default. */
  field?: string;
}

export interface RunRecord {
  id: string;
  ts: number;
  md5: string;
  file: string;
}

export interface UploadDevice {
  readonly device: Device;
  readonly daemon: TestDaemon;
  readonly folder: string;
  /** Sends one form with these files. */
  readonly send: (
    files: readonly SentFile[],
    options?: { query?: string; headers?: Record<string, string> },
  ) => Promise<Response>;
  /** Sends a file that must be taken, and waits for its job. */
  readonly install: (file: SentFile) => ReturnType<TestDaemon['finished']>;
  /** A request whose body the test writes itself. */
  readonly open: (headers: Record<string, string>) => ClientRequest;
  readonly records: () => Promise<RunRecord[]>;
  /** A program that is at work until it is let go on. */
  readonly held: SentFile;
  /** Lets that program go on, and waits for its job. */
  readonly goOn: (taskId: string) => ReturnType<TestDaemon['finished']>;
  /** The names of the files that wait. */
  readonly left: () => Promise<string[]>;
  readonly close: () => Promise<void>;
}

export async function createUploadDevice(
  options: DeviceOptions = {},
  daemonOptions: DaemonOptions = {},
): Promise<UploadDevice> {
  const device = await createDevice(options);
  await device.opkg('update');
  const daemon = await startDaemon(device, daemonOptions);
  const folder = join(device.root, 'tmp/depotd');
  const url = (query = ''): string => `${daemon.url}${daemon.base}/admin/store/upload${query}`;
  const send: UploadDevice['send'] = (files, { query, headers = {} } = {}) => {
    const form = new FormData();
    for (const { name, content, field = 'file' } of files) {
      form.append(field, new Blob([content]), name);
    }
    return fetch(url(query), { method: 'POST', body: form, headers });
  };
  return {
    device,
    daemon,
    folder,
    send,
    install: async (file) => {
      const { task_id: id = '', stderr } = (await (await send([file])).json()) as {
        task_id?: string;
        stderr: string;
      };
      if (id === '') throw new Error(`cannot install ${file.name}: ${stderr}`);
      return daemon.finished(id);
    },
    open: (headers) => httpRequest(url(), { method: 'POST', headers }),
    records: async () =>
      ((await (await daemon.get('admin/store/run_records')).json()) as { records: RunRecord[] })
        .records,
    left: async () =>
      (await readdir(folder).catch(() => [])).filter((name) => /\.(ipk|run)$/.test(name)),
    held: runFile(
      `until [ -e ${device.root}/tmp/go ] || ! [ -d ${device.root}/tmp ]; do sleep 0.05; done`,
    ),
    goOn: async (taskId) => {
      await writeFile(join(device.root, 'tmp/go'), '');
      const ended = await daemon.finished(taskId);
      await rm(join(device.root, 'tmp/go'));
      return ended;
    },
    close: async () => {
      await daemon.close();
      await device.close();
    },
  };
}

export function ipk(name: string, more: Partial<PackageSource> = {}): SentFile {
  const { fileName, bytes } = createIpk(simplePackage(name, more));
  return { name: fileName, content: bytes };
}

export function runFile(body: string, name = 'install.run'): SentFile {
  return { name, content: `#!/bin/sh\n${body}\n` };
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
