import { readFile } from 'node:fs/promises';
import { rewriteFile } from '../../../device/durable-file.ts';
import { parseStanza, parseStanzas } from './stanza.ts';
import { readStatus } from './status-backup.ts';

/** The package that a paragraph of the status file is about; empty if it names none. */
export function packageIn(paragraph: string): string {
  return parseStanza(paragraph).get('Package') ?? '';
}

/**
 * Changes paragraphs of the status file, while nobody else writes it. A file that breaks off does
 * so afterwards, too: that is how its damage is seen.
 * @throws an Error of Node if the file is there and cannot be read
 */
export async function editStatus(statusFile: string, edit: (paragraph: string) => string) {
  const text = await readStatus(statusFile);
  const edited = text.split('\n\n').map(edit).join('\n\n');
  if (edited !== text) await rewriteFile(statusFile, edited);
}

/**
 * The configuration files of all packages, and the hash of each as it came; none if the status
 * file cannot be read.
 */
export async function readConffiles(statusFile: string) {
  const text = await readFile(statusFile, 'utf8').catch(() => '');
  return [...parseStanzas(text)].flatMap((stanza) => {
    const owner = stanza.get('Package') ?? '';
    const lines = (stanza.get('Conffiles') ?? '').split('\n');
    return lines.flatMap((line) => {
      const [path, hash] = line.split(' ');
      return path && hash ? [{ owner, path, hash }] : [];
    });
  });
}
