import { createHash } from 'node:crypto';
import type { Chunk } from '../ddi/ddi-schemas.ts';
import type { Address } from '../ddi/links.ts';

/**
 * Names one action for ever. A server that was put back from a backup may offer an action again
 * that is over, or give its id to another one: the content tells the two apart. What changes while
 * an action is open (soft becomes forced, a window opens, links) is left out, and so is the order
 * of the chunks, which no server keeps.
 * @returns 64 hexadecimal digits
 */
export function actionKey(address: Address, id: string, chunks: readonly Chunk[]): string {
  const content = chunks.map(({ part, name, version, artifacts, metadata }) =>
    JSON.stringify([
      part,
      name,
      version,
      artifacts.map(({ filename, size, hashes }) => [filename, size, hashes.sha256]).sort(compare),
      metadata.map(({ key, value }) => [key, value]).sort(compare),
    ]),
  );
  return hashOf([...whereFrom(address), id, content.sort()]);
}

/** Names one device at one server. @returns 64 hexadecimal digits */
export function addressKey(address: Address): string {
  return hashOf(whereFrom(address));
}

function whereFrom({ server, tenant, controllerId }: Address): string[] {
  return [new URL(server).origin, tenant, controllerId];
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

function compare(a: readonly unknown[], b: readonly unknown[]): number {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)];
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
