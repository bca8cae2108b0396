import { rename, writeFile } from 'node:fs/promises';

/** Puts a new file in the place of one, as apk does, and as a power cut then leaves it damaged. */
export async function putAnew(file: string, content: string | Uint8Array): Promise<void> {
  await writeFile(`${file}.tmp`, content);
  await rename(`${file}.tmp`, file);
}
