export function createSpeaker(
  sentences: Readonly<Record<string, string>>,
): (text: string) => string;

export function fill(text: string, valueOf: (name: string) => unknown): string;
