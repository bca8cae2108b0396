import { readdir } from 'node:fs/promises';

/** Where app meta packages put them, below the root: LuCI serves the folder as static files. */
export const ICON_FOLDER = '/www/luci-static/resources/app-icons';

/** Endings of pictures; the first one that is there counts. */
export const ICON_ENDINGS = ['svg', 'png', 'webp'];

const MOST_NAMES = 10_000;

/** @returns the names that the folder has a picture of, by its file names alone */
export async function readIconNames(folder: string): Promise<ReadonlySet<string>> {
  const files = await readdir(folder).catch(() => []);
  const names = files.flatMap((file) => {
    const ending = ICON_ENDINGS.find((known) => file.endsWith(`.${known}`));
    return ending === undefined ? [] : [file.slice(0, -ending.length - 1)];
  });
  return new Set(names.slice(0, MOST_NAMES));
}
