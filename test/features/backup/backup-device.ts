import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { DaemonDevice } from '../../device/daemon-process.ts';
import {
  startDaemon,
  type Parameters,
  type TaskStatus,
  type TestDaemon,
} from '../../device/daemon.ts';

/** What `GET backups` says of one. */
export interface ListedBackup {
  id: string;
  made_at: number;
  bytes: number;
  reason: string;
  package_manager: string;
  packages: number;
  has_packages: boolean;
}

/** A daemon, asked for backups. */
export interface BackupDaemon extends TestDaemon {
  readonly run: (
    operation: string,
    params?: Parameters,
  ) => Promise<TaskStatus & { backup?: string; report?: ReportLine[]; log: string }>;
  readonly backups: () => Promise<ListedBackup[]>;
  readonly download: (id: string) => Promise<Buffer>;
  /** @returns the status and the body */
  readonly add: (file: Buffer) => Promise<{ status: number; body: AddAnswer }>;
}

export interface ReportLine {
  package: string;
  state: string;
  as?: string;
  message?: string;
}

interface AddAnswer {
  code: number;
  id?: string;
  stderr?: string;
}

export async function startBackupDaemon(
  device: DaemonDevice,
  set: readonly string[] = [],
): Promise<BackupDaemon> {
  const config = join(device.root, 'mnt/depotd.conf');
  await writeFile(config, "config depotd 'main'\n");
  const daemon = await startDaemon(device, { set, config });
  const run: BackupDaemon['run'] = async (operation, params) => {
    const id = await daemon.submit(operation, params);
    const status = await daemon.finished(id);
    return { ...status, log: await daemon.logOf(id) };
  };
  return Object.assign(Object.create(daemon) as TestDaemon, {
    run,
    backups: async () =>
      ((await (await daemon.get('admin/store/backups')).json()) as { backups: ListedBackup[] })
        .backups,
    download: async (id: string) =>
      Buffer.from(await (await daemon.get(`admin/store/backup_file?id=${id}`)).arrayBuffer()),
    add: async (file: Buffer) => {
      const form = new FormData();
      form.append('file', new Blob([file]), 'backup.tar.gz');
      const answer = await fetch(`${daemon.url}${daemon.base}/admin/store/add_backup`, {
        method: 'POST',
        body: form,
      });
      return { status: answer.status, body: (await answer.json()) as AddAnswer };
    },
  });
}

/** The configuration of an owner, as sysupgrade would keep it. */
export async function writeConfiguration(root: string): Promise<void> {
  const files: Record<string, string> = {
    'lib/upgrade/keep.d/base-files': '/etc/config/\n/etc/passwd\n# a comment\n/etc/rc.loc*\n',
    'etc/sysupgrade.conf': '## own files\n/root/scripts\n/root/missing\n',
    'etc/config/network': "config interface 'lan'\n\toption ipaddr '192.168.7.1'\n",
    'etc/config/system': "config system\n\toption hostname 'attic'\n\toption zonename 'UTC'\n",
    'etc/passwd': 'root:x:0:0:root:/root:/bin/ash\n',
    'etc/rc.local': 'exit 0\n',
    'root/scripts/daily': '#!/bin/sh\necho daily\n',
    'root/other': 'not kept\n',
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(root, dirname(path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

export async function textOf(root: string, path: string): Promise<string | undefined> {
  return readFile(join(root, path), 'utf8').catch(() => undefined);
}
