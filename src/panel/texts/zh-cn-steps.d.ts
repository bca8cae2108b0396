export const chineseSteps: ReadonlyMap<string, string>;
