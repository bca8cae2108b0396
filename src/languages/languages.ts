import { gunzipSync } from 'node:zlib';

import packed from './all.texts';
import type { SpokenLanguage } from './language.js';
import { createSpeaker } from './sentences.js';

/** One file of texts; English, in the sources, has none. */
export interface Texts {
  /** Texts of the page and the log-in, by what the sources say in English. */
  page: Readonly<Record<string, string>>;
  /** Names of tasks' steps, by what the daemon calls them. */
  steps: Readonly<Record<string, string>>;
  /** What can be done about a problem, by its code. */
  remedies: Readonly<Record<string, string>>;
  /** What the daemon says, by its English sentence (sentences.js). */
  sentences: Readonly<Record<string, string>>;
  /** What the command line says beside that, in the same way. */
  command: Readonly<Record<string, string>>;
  /** Single words of its tables and its help. */
  words: Readonly<Record<string, string>>;
}

/** What a program carries of a file: depotctl no text of the page, the daemon none of depotctl. */
type Carried = Pick<Texts, 'sentences'> & Partial<Texts>;

export interface Language extends SpokenLanguage {
  /** Name of the language as its speakers write it. */
  name: string;
}

/** The languages that there is a file of. */
export const LANGUAGES: readonly Language[] = Object.entries(packed).map(
  ([code, { name, tags }]) => ({ code, name, tags }),
);

/** @returns JSON as its file has it, in gzip (RFC 1952); undefined if there is no such language */
export function packedTextsOf(code: string): Buffer<ArrayBuffer> | undefined {
  const found = LANGUAGES.some((language) => language.code === code) ? packed[code] : undefined;
  return found && Buffer.from(found.packed, 'base64');
}

export interface Voice {
  readonly isEnglish: boolean;
  /** A text of the page. */
  readonly t: (text: string) => string;
  /** A sentence of the daemon. */
  readonly say: (sentence: string) => string;
  /** A word of a table, a step of a task, or a sentence. */
  readonly word: (text: string) => string;
  /** What can be done about a problem of this code; undefined in English, which the daemon says. */
  readonly remedyOf: (code: string) => string | undefined;
}

/** @param code English if there is no such language */
export function voiceOf(code: string): Voice {
  const texts = packedTextsOf(code);
  if (texts === undefined) return ENGLISH;
  const carried = JSON.parse(gunzipSync(texts).toString()) as Carried;
  const { page = {}, sentences, command = {}, words = {}, steps = {}, remedies = {} } = carried;
  const say = createSpeaker({ ...sentences, ...command });
  return {
    isEnglish: false,
    t: (text) => page[text] ?? text,
    say,
    word: (text) => words[text] ?? steps[text] ?? say(text),
    remedyOf: (problem) => (Object.hasOwn(remedies, problem) ? remedies[problem] : undefined),
  };
}

function asItIs(text: string): string {
  return text;
}

const ENGLISH: Voice = {
  isEnglish: true,
  ...{ t: asItIs, say: asItIs, word: asItIs, remedyOf: () => undefined },
};
