/** A reason within a reason within a sentence: so deep is what a sentence says put into words. */
const DEEPEST = 4;
/** Most sentences in one text, parted by semicolons, that are looked at. */
const MOST_SENTENCES = 6;

/**
 * Says the daemon's sentences, which are English, in another language.
 * @param sentences translations by the English sentence. A name in braces stands for any text,
 *   which is said in the other language itself if it is a sentence, but for one in capital
 *   letters: such as a command line, and for `count` a number; the most exact one counts
 * @returns a function of an English sentence; what is not translated it gives back
 */
export function createSpeaker(sentences) {
  const exact = new Map(Object.entries(sentences));
  let patterns;
  const say = (text, depth = 0) => {
    if (exact.has(text)) return exact.get(text);
    if (depth === DEEPEST) return text;
    return sayPattern(text, depth) ?? sayEach(text, depth) ?? sayWithin(text, depth);
  };
  const sayPattern = (text, depth) => {
    patterns ??= [...exact]
      .filter(([source]) => source.includes('{'))
      .map(parsePattern)
      .sort((one, other) => other.isHead - one.isHead || other.weight - one.weight);
    for (const pattern of patterns) {
      const values = valuesOf(pattern, text);
      // Half a sentence is worse than one in English.
      if (values !== undefined && isKnown(values.action) && isFitting(values)) {
        const last = values[pattern.names.at(-1)] ?? '';
        const isOne = !last.includes('; ') || pattern.literals.some((each) => each.includes('; '));
        const said = isOne ? undefined : sayEach(text, depth);
        if (said !== undefined) return said;
        return fill(pattern.translation, (name) => {
          const value = values[name] ?? '';
          return isVerbatim(name) ? value : say(value, depth + 1);
        });
      }
    }
    return undefined;
  };
  /** Several sentences one behind the other, of which each may have a semicolon in it. */
  const sayEach = (text, depth) => {
    let at = -1;
    for (let tried = 0; tried < MOST_SENTENCES; tried += 1) {
      at = text.indexOf('; ', at + 1);
      if (at < 0) break;
      const [first, rest] = [text.slice(0, at), text.slice(at + 2)];
      const said = exact.get(first) ?? sayPattern(first, depth);
      const saidRest = said === undefined ? rest : say(rest, depth + 1);
      if (saidRest !== rest) return `${said}\uff1b${saidRest}`;
    }
    return undefined;
  };
  /** A sentence within another has lost its capital and its full stop there. */
  const sayWithin = (text, depth) => {
    for (const head of [text.slice(0, 1), text.slice(0, 1).toUpperCase()]) {
      const whole = `${head}${text.slice(1)}.`;
      const said = exact.get(whole) ?? sayPattern(whole, depth);
      if (said !== undefined) return said.replace(/[.\u3002]$/, '');
    }
    return text;
  };
  const isKnown = (action) => action === undefined || say(action) !== action;
  return (text) => say(text);
}

/** Some names stand for one word, and what is done for no sentence. */
function isFitting({ action = '', FEED = '', single = '', code = '' }) {
  return !action.includes(': ') && !`${FEED}${single}${code}`.includes(' ');
}

function isVerbatim(name) {
  return name === name.toUpperCase();
}

/**
 * Fills in what the names in braces stand for; without a value a name stays as it is. The space
 * that Chinese has beside words of other scripts goes beside Chinese ones.
 */
export function fill(text, valueOf) {
  return text.replace(/( ?)\{(\w+)\}( ?)/g, (braces, ...[before, name, after, at]) => {
    const value = valueOf(name);
    if (value === undefined) return braces;
    const said = String(value);
    const isJoined = isChinese(text[at - 1]) && isChinese(said[0]);
    const isFollowed = isChinese(said.at(-1)) && isChinese(text[at + braces.length]);
    return `${isJoined ? '' : before}${said}${isFollowed ? '' : after}`;
  });
}

function isChinese(character = '') {
  return /\p{Script=Han}/u.test(character);
}

/** What stands ahead of a sentence is said by itself, ahead of what begins with any text. */
const HEAD = /^(?:cannot |\{FEED\} \()/;

function parsePattern([source, translation]) {
  const pieces = source.split(/\{(\w+)\}/);
  const literals = pieces.filter((_, index) => index % 2 === 0);
  const names = pieces.filter((_, index) => index % 2 === 1);
  const weight = literals.join('').length;
  return { literals, names, translation, weight, isHead: HEAD.test(source) };
}

/** Goes through the text once, so that nobody can write one that takes long. */
function valuesOf({ literals, names }, text) {
  const [first] = literals;
  const last = literals.at(-1);
  if (!text.startsWith(first) || !text.endsWith(last)) return undefined;
  const values = {};
  let at = first.length;
  for (const [index, name] of names.entries()) {
    const literal = literals[index + 1];
    const isLast = index === names.length - 1;
    const end = isLast ? text.length - last.length : text.indexOf(literal, at + 1);
    if (end <= at) return undefined;
    values[name] = text.slice(at, end);
    if (name === 'count' && !/^\d/.test(values[name])) return undefined;
    at = end + literal.length;
  }
  return values;
}
