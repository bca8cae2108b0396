import { lstat } from 'node:fs/promises';
import { listNames } from '../../package-management/names.ts';
import type { DeviceCheck, Finding } from '../device-check.ts';
import type { AuditTools } from './routes.ts';

/** The doctor answers within less than a second, all its checks together. */
const LIMIT_MS = 250;
const AT_ONCE = 32;
const MOST_NAMES = 3;

/** Whether files of packages are there at all; what is in them, `depotctl verify` looks at. */
export function auditChecks(tools: AuditTools): readonly DeviceCheck[] {
  return [
    { id: 'package-files', run: () => judgeFiles(tools) },
    { id: 'file-owners', run: () => judgeOwners(tools) },
  ];
}

/** An upgrade or a removal of one of two owners breaks the other. */
async function judgeOwners({ manager }: AuditTools): Promise<Finding> {
  const owners = new Map<string, string>();
  const shared: string[] = [];
  for await (const { path, owner } of manager.fileRecords()) {
    const other = owners.get(path) ?? owner;
    if (other !== owner) shared.push(`${path} (${other}, ${owner})`);
    owners.set(path, owner);
  }
  if (shared.length === 0) {
    return { state: 'ok', message: `each of ${owners.size} files of packages has one owner` };
  }
  return {
    state: 'warning',
    message: `files have two owners: ${listNames(shared, MOST_NAMES)}`,
    remedy: 'remove one of the two packages, and install the other one again',
  };
}

async function judgeFiles({ paths, manager }: AuditTools): Promise<Finding> {
  let end = Infinity;
  const missing: string[] = [];
  let looks: Promise<unknown>[] = [];
  let count = 0;
  let isWhole = true;
  for await (const { path, isConfig } of manager.fileRecords()) {
    if (isConfig || path.startsWith('/etc/uci-defaults/')) continue;
    if (count === 0) end = performance.now() + LIMIT_MS;
    count += 1;
    looks.push(lstat(paths.onDevice(path)).catch(() => missing.push(path)));
    if (looks.length < AT_ONCE) continue;
    await Promise.all(looks);
    looks = [];
    isWhole = performance.now() < end;
    if (!isWhole) break;
  }
  await Promise.all(looks);
  const seen = isWhole ? `all ${count} files of packages` : `the first ${count} files of packages`;
  if (missing.length === 0) {
    return { state: 'ok', message: `${seen} are there; \`depotctl verify\` looks into them` };
  }
  return {
    state: 'warning',
    message: `files of packages are gone: ${listNames(missing, MOST_NAMES)}`,
    remedy: 'install their packages again; `depotctl verify` names them all',
  };
}
