/** One message of a catalogue and its translation, as GNU gettext's .po files hold them. */
export interface PoMessage {
  context?: string;
  id: string;
  /** Set for a message with forms for several numbers. */
  pluralId?: string;
  /** One text, or one for each plural form; empty if it is not translated. */
  translations: string[];
}

const KEYWORD = /^(msgctxt|msgid_plural|msgid|msgstr(?:\[(\d)\])?)\s+(?=")/;
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/;

/**
 * Reads a .po file as LuCI's po2lmo does: of the escapes only `\"` and `\\` are undone. The message
 * with the empty id is the header.
 * @throws Error with the line that is neither a comment nor part of a message
 */
export function parsePoFile(text: string): PoMessage[] {
  const messages: PoMessage[] = [];
  let append: (piece: string) => void = () => {
    throw new Error('a message is expected');
  };
  for (const [index, line] of text.split('\n').entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    try {
      const keyword = KEYWORD.exec(trimmed);
      if (keyword !== null) append = begin(messages, keyword[1] ?? '', Number(keyword[2] ?? 0));
      append(unquote(trimmed.slice(keyword?.[0].length ?? 0)));
    } catch (error) {
      throw new Error(`cannot read line ${index + 1}: ${String(error)}`, { cause: error });
    }
  }
  return messages;
}

/** @returns what takes the pieces of the text that follows the keyword */
function begin(messages: PoMessage[], keyword: string, form: number): (piece: string) => void {
  const last = messages.at(-1);
  const isOpen = last?.translations.length === 0;
  if (keyword === 'msgctxt' || (keyword === 'msgid' && !isOpen)) {
    const message: PoMessage = { id: '', translations: [] };
    messages.push(message);
    return keyword === 'msgid'
      ? (piece) => (message.id += piece)
      : (piece) => (message.context = (message.context ?? '') + piece);
  }
  if (last === undefined) throw new Error('msgid is expected first');
  if (keyword === 'msgid') return (piece) => (last.id += piece);
  if (keyword === 'msgid_plural') {
    return (piece) => (last.pluralId = (last.pluralId ?? '') + piece);
  }
  return (piece) => (last.translations[form] = (last.translations[form] ?? '') + piece);
}

function unquote(text: string): string {
  const quoted = QUOTED.exec(text)?.[1];
  if (quoted === undefined) throw new Error('a text in double quotes is expected');
  return quoted.replace(/\\(["\\])/g, '$1');
}
