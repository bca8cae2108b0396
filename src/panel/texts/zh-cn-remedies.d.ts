export const chineseRemedies: ReadonlyMap<string, string>;
export const chineseAdvice: ReadonlyMap<string, string>;
