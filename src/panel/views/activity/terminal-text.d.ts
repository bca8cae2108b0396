export interface TextRun {
  text: string;
  /** 0: none; 1 to 8: the terminal's colours; 9 to 16: their bright ones. */
  colour: number;
  isBold: boolean;
}

export interface TerminalText {
  write: (text: string) => void;
  readChanges: () => { firstLine: number; from: number; lines: TextRun[][] };
  text: () => string;
}

export function createTerminalText(options?: { mostLines?: number }): TerminalText;
export function wholeCharacters(bytes: Uint8Array): number;
