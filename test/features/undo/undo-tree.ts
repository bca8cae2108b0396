import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders of depotd itself, and of what changes with every look. */
const OWN = ['etc/depotd', 'tmp', 'var/log', 'var/lock', 'var/run', 'lib/apk/exec'];

/** Kind, mode and content of all that stands below a root, times aside. */
export async function treeOf(root: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(root.length + 1);
    // apk's lock, and what it packs anew with each change.
    if (/^lib\/apk\/db\/(?!installed$|triggers$)/.test(name)) continue;
    if (OWN.some((own) => name === own || name.startsWith(`${own}/`))) continue;
    if (entry.isDirectory()) continue;
    const { mode } = await lstat(path);
    found[name] = `${(mode & 0o7777).toString(8)} ${await contentOf(path, entry.isSymbolicLink())}`;
  }
  return found;
}

/**
 * Without the mark of what came as a dependency: an upgrade by opkg drops it, and depotd, which
 * knows it all the same, writes it when it puts the record back.
 */
export function withoutMarks(tree: Record<string, string>): Record<string, string> {
  const file = 'usr/lib/opkg/status';
  return { ...tree, [file]: (tree[file] ?? '').replace(/\nAuto-Installed: yes/g, '') };
}

/** Records have no order. */
async function contentOf(path: string, isLink: boolean): Promise<string> {
  if (isLink) return `-> ${await readlink(path)}`;
  const bytes = await readFile(path);
  if (/\/(?:usr\/lib\/opkg\/status|lib\/apk\/db\/installed)$/.test(path)) {
    return sorted(bytes.toString(), '\n\n');
  }
  if (/\.list$|\/apk\/world$|\/db\/triggers$/.test(path)) return sorted(bytes.toString(), '\n');
  return createHash('sha1').update(bytes).digest('hex');
}

function sorted(text: string, separator: string): string {
  return text.split(separator).sort().join(separator);
}
