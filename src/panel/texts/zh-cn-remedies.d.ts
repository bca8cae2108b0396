export const chineseRemedies: ReadonlyMap<string, string>;
