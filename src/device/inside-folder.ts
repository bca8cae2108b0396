/** Itself left out. Both are absolute and normalised; links are not followed. */
export function isInsideFolder(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

export function isAtOrIn(path: string, folder: string): boolean {
  return path === folder || isInsideFolder(path, folder);
}

/** `a` and `a/b` for `a/b/c`. */
export function foldersAbove(path: string): string[] {
  const pieces = path.split('/').slice(0, -1);
  return pieces.map((_, index) => pieces.slice(0, index + 1).join('/'));
}
