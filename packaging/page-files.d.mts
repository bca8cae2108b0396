import type { Plugin } from 'esbuild';

export const PAGE_FILE: RegExp;
export const ALL_TEXTS: RegExp;
export function allTexts(sections?: string[]): Plugin;
export function packTexts(folder: string, sections?: string[]): string;
export function packPageFile(path: string): Promise<string>;
export function pageFiles(): Plugin;
export function markupOf(path: string): string;
