import type { Plugin } from 'esbuild';

export const PAGE_FILE: RegExp;
export function packPageFile(path: string): Promise<string>;
export function pageFiles(): Plugin;
export function markupOf(path: string): string;
