import { createHmac } from 'node:crypto';
import type { HeaderLines } from './header-lines.ts';

/**
 * Says nothing about who asks, and nothing about the answer unless its `Vary` names it: who relays
 * the request, what the client can show, and questions about an answer that it has.
 */
const NEUTRAL_NAMES = [
  ...['user-agent', 'referer', 'priority', 'dnt', 'save-data', 'cache-control', 'pragma', 'accept'],
  ...['upgrade-insecure-requests', 'x-requested-with', 'x-request-id', 'traceparent', 'tracestate'],
  ...['if-.*', 'x-forwarded-.*', 'sec-.*', 'accept-.*', 'content-.*'],
];
const NEUTRAL = new RegExp(`^(?:${NEUTRAL_NAMES.join('|')})$`);

/**
 * HMAC key: the name of a caller's answer, which reveals no URL or token. All headers but the
 * neutral ones tell callers apart, for any might say who asks.
 * @param target path and query below the API root
 */
export function answerName(
  { target, headers }: { target: string; headers: HeaderLines },
  secret: Buffer,
): string {
  const caller = pairsOf(headers)
    .filter(([name]) => !NEUTRAL.test(name))
    .sort(([one], [other]) => compare(one, other));
  return createHmac('sha256', secret)
    .update(JSON.stringify([plainTarget(target), caller]))
    .digest('hex');
}

/** Names in lower case. */
function pairsOf(headers: HeaderLines): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    pairs.push([(headers[index] ?? '').toLowerCase(), headers[index + 1] ?? '']);
  }
  return pairs;
}

/** One spelling of targets that mean the same to the forge (docs/reference/forge.md). */
function plainTarget(target: string): string {
  const [path = '', ...queries] = target.split('?');
  const parameters = queries
    .join('?')
    .split('&')
    .filter((part) => part !== '')
    .map((part) => plainEscapes(part.replaceAll('+', '%20')))
    .sort((one, other) => compare(nameIn(one), nameIn(other)));
  const plainPath = plainEscapes(path)
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '');
  return `${plainPath}?${parameters.join('&')}`;
}

function nameIn(parameter: string): string {
  return parameter.split('=', 1)[0] ?? '';
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** RFC 3986, sections 6.2.2.1 and 6.2.2.2. */
function plainEscapes(text: string): string {
  return text
    .replace(/[^\x21-\x7e]/g, (character) => escapeOf(character.charCodeAt(0)))
    .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => {
      const code = Number.parseInt(hex, 16);
      const character = String.fromCharCode(code);
      return /[\w.~-]/.test(character) ? character : escapeOf(code);
    });
}

function escapeOf(code: number): string {
  return `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
}

/**
 * The request's headers that an answer was chosen by (RFC 9110, section 12.5.5), in lower case and
 * with their values; a coding of its content is looked at apart.
 * @param vary the answer's `Vary`
 */
export function variedHeaders(vary: string | undefined, request: HeaderLines): HeaderLines {
  const names = (vary ?? '').toLowerCase().split(',');
  return names
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'accept-encoding')
    .sort(compare)
    .flatMap((name) => [name, valuesOf(request, name)]);
}

/** Whether a kept answer may be given to this request, too. */
export function isUsableFor(
  kept: { varied: HeaderLines; coding: string | undefined },
  request: HeaderLines,
): boolean {
  for (let index = 0; index + 1 < kept.varied.length; index += 2) {
    if (valuesOf(request, kept.varied[index] ?? '') !== kept.varied[index + 1]) return false;
  }
  return kept.coding === undefined || accepts(valuesOf(request, 'accept-encoding'), kept.coding);
}

function accepts(acceptEncoding: string, coding: string): boolean {
  return acceptEncoding
    .toLowerCase()
    .split(',')
    .map((part) => part.replace(/\s/g, ''))
    .some((part) => {
      const [name, weight] = part.split(';q=');
      return (name === coding.trim().toLowerCase() || name === '*') && Number(weight ?? 1) > 0;
    });
}

function valuesOf(headers: HeaderLines, name: string): string {
  return pairsOf(headers)
    .filter(([candidate]) => candidate === name)
    .map(([, value]) => value.trim())
    .join(', ');
}
