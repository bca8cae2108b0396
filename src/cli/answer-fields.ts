import { orElse } from '../errors.ts';

/** Fields of answers. What has another type than expected counts as absent. */

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(body: unknown): Fields {
  return typeof body === 'object' && body !== null ? (body as Fields) : {};
}

/** Text of a field of an answer; empty if there is none. */
export function textIn(body: unknown, name: string): string {
  const value = fieldsOf(body)[name];
  return typeof value === 'string' ? value : '';
}

export function numberIn(body: unknown, name: string): number | undefined {
  const value = fieldsOf(body)[name];
  return typeof value === 'number' ? value : undefined;
}

export function flagIn(body: unknown, name: string): boolean {
  return fieldsOf(body)[name] === true;
}

export function listIn(body: unknown, name: string): readonly unknown[] {
  const value = fieldsOf(body)[name];
  return Array.isArray(value) ? (value as unknown[]) : [];
}

export function textsIn(body: unknown, name: string): string[] {
  return listIn(body, name).filter((entry): entry is string => typeof entry === 'string');
}

/** The answer's JSON; undefined for what is none. */
export function parseJson(text: string): unknown {
  return orElse((): unknown => JSON.parse(text), undefined);
}

export function memberIn(body: unknown, name: string): unknown {
  return fieldsOf(body)[name];
}
