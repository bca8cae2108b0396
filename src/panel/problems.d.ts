/** For the tests; the page itself is JavaScript. */
export function headingOf(code: string): string;
export function remedyOf(problem: { code: string; package?: string; remedy?: string }): string;
