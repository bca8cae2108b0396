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
  if (path.endsWith('/usr/lib/opkg/status')) return sorted(bytes.toString(), '\n\n');
  if (path.endsWith('/lib/apk/db/installed')) {
    return sorted(bytes.toString().split('\n\n').map(recordOf).join('\n\n'), '\n\n');
  }
  // What is bound to a file is bound to the one that was packed.
  const text = bytes.toString().replace(/><Q1.*/g, '><');
  if (/\.list$|\/apk\/world$|\/db\/triggers$/.test(path)) return sorted(text, '\n');
  return createHash('sha1').update(bytes).digest('hex');
}

/**
 * What comes back with apk was packed from what was installed: its fields and files are the same,
 * its hash, sizes and time are not, and settings that its owner changed are the owner's.
 */
function recordOf(paragraph: string): string {
  let folder = '';
  const lines = paragraph.split('\n').filter((line) => {
    if (line.startsWith('F:')) folder = `${line.slice(2)}/`;
    return !/^[CISt]:/.test(line) && !folder.startsWith('etc/');
  });
  return lines.join('\n');
}

function sorted(text: string, separator: string): string {
  return text.split(separator).sort().join(separator);
}
