/**
 * Whether a path lies below a folder, itself left out. Both are absolute and normalised; links are
 * not followed.
 */
export function isInsideFolder(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder === '/' ? '/' : `${folder}/`);
}
