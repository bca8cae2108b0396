import { readFile, writeFile } from 'node:fs/promises';

/** Makes what is on record that of a boot before this one. The daemon must not be running. */
export async function asOfAnotherBoot(journalFile: string): Promise<void> {
  const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'latin1')).trim();
  const text = await readFile(journalFile, 'utf8');
  const other = '00000000-0000-0000-0000-000000000000';
  await writeFile(journalFile, text.replaceAll(bootId, other));
}

/** Takes the end of a task from the records, as if the power had gone just before it was written. */
export async function forgetEnd(journalFile: string, task: string): Promise<void> {
  const lines = (await readFile(journalFile, 'utf8')).split('\n').filter(Boolean);
  const kept = lines.filter((line) => !isEndOf(task, line));
  await writeFile(journalFile, kept.map((line) => `${line}\n`).join(''));
}

/** A kill may have left the last line half written. */
function isEndOf(task: string, line: string): boolean {
  try {
    const { id, stoppedAt } = JSON.parse(line) as { id: string; stoppedAt?: number };
    return id === task && stoppedAt !== undefined;
  } catch {
    return false;
  }
}
