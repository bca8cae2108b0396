import type { Texts } from '../languages/languages.ts';

export function useTexts(given?: Texts): void;
export function language(): string;
export function t(text: string, values?: Record<string, string | number>): string;
export function stepName(label: string): string;
export function setLanguage(): Promise<void>;
