import type { Texts } from '../languages/languages.ts';

export function useTexts(given?: Texts): void;
export function language(): string;
export function t(text: string, values?: Record<string, string | number>): string;
export function stepName(label: string): string;
export function remedyOfCode(code: string): string | undefined;
export function daemonText(text: string): string;
export function fillLanguages(): void;
export function setLanguage(): Promise<void>;
