/** Node's flags for a program that is a source file. */
export const TYPESCRIPT = ['--import', new URL('typescript.mjs', import.meta.url).href] as const;
