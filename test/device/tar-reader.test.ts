import { expect, test } from 'vitest';

import { readTar } from '../../src/device/tar/tar-reader.ts';
import { END_OF_TAR, tarHeader, tarMember } from '../../src/device/tar/tar-writer.ts';
import { collect } from '../support/collect.ts';

const LONG = 'folder/'.repeat(20);
const file = (name: string): Buffer[] => tarMember({ name, mode: 0o644 }, Buffer.from('content'));
/** The name of a member in a member of its own, and nothing that it belongs to. */
const nameAlone = tarHeader({ name: LONG, mode: 0o644, sizeBytes: 0 }, 'gnu').slice(0, -1);

async function* pieces(...all: readonly Buffer[][]): AsyncGenerator<Buffer> {
  yield* [...all.flat(), END_OF_TAR];
}

test('names without end ahead of a member are no archive', async () => {
  const many = Array.from({ length: 10_000 }, () => nameAlone);

  await expect(collect(readTar(pieces(...many, file('a'))))).rejects.toThrow(
    'no plain tar archive',
  );
});

test('each member has its own long name', async () => {
  const names: string[] = [];
  const members = Array.from({ length: 20 }, () => [nameAlone, file('a')]).flat();
  for await (const { name } of readTar(pieces(...members, file('b')))) names.push(name);

  expect(names).toEqual([...Array<string>(20).fill(LONG), 'b']);
});
