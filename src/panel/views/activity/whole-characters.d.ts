export function wholeCharacters(bytes: Uint8Array): number;
