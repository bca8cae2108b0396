import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

import * as fc from 'fast-check';

import { DepotError } from '../../../src/errors.ts';
import { inspectIpk } from '../../../src/package-management/opkg/package-file/ipk-file.ts';
import { readTar } from '../../../src/device/tar/tar-reader.ts';
import { runCommand } from '../../device/command.ts';
import { createIpk } from '../../device/ipk.ts';
import { simplePackage } from '../../device/packages/package-parts.ts';
import { createTar } from '../../device/tar.ts';
import { inPieces, mutated, pieceSizes, property, type FuzzTarget } from '../target.ts';

const fileName = fc
  .array(fc.stringMatching(/^[A-Za-z0-9 ._é-]{1,40}$/), { minLength: 1, maxLength: 6 })
  .map((segments) => segments.join('/'))
  .filter((path) => !path.split('/').some((part) => /^\.*$/.test(part)));
const entry = fc.record({
  name: fileName,
  mode: fc.constant(0o644),
  content: fc.uint8Array({ maxLength: 1500 }).map((bytes) => Buffer.from(bytes)),
});
const archive = fc.array(entry, { minLength: 1, maxLength: 5 }).map(createTar);

/** What was packed is read; what is damaged is refused or read, but never without end. */
export async function archiveTargets(): Promise<FuzzTarget[]> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-fuzz-archives-'));
  const close = (): Promise<void> => rm(folder, { recursive: true, force: true });
  return [tarTarget(), { ...tarByTar(folder), close }, ipkTarget(folder)];
}

function tarTarget(): FuzzTarget {
  return property('tar', 400, {
    inputs: fc.tuple(fc.array(entry, { minLength: 1, maxLength: 5 }), pieceSizes),
    check: async ([entries, sizes]) => {
      const found: [string, string][] = [];
      for await (const member of readTar(inPieces(createTar(entries), sizes))) {
        let text = '';
        for await (const piece of member.content) text += piece.toString('hex');
        if (member.type !== '5') found.push([member.name, text]);
      }
      const expected = entries.map(({ name, content }) => [name, content.toString('hex')]);
      return JSON.stringify(found) === JSON.stringify(expected)
        ? undefined
        : `read as ${JSON.stringify(found)}`;
    },
  });
}

/** A damaged archive that is taken to its end has for GNU tar the same names. */
function tarByTar(folder: string): FuzzTarget {
  const file = join(folder, 'damaged.tar');
  return property('tar by tar(1)', 60, {
    inputs: fc.tuple(mutated(archive), pieceSizes),
    check: async ([content, sizes]) => {
      const names = await namesIn(content, sizes);
      if (names === undefined) return undefined;
      await writeFile(file, content);
      const { code, stdout } = await runCommand(['tar', '--quoting-style=literal', '-tf', file], {
        env: { ...process.env, LC_ALL: 'C.UTF-8' },
      });
      const theirs = stdout.split('\n').filter(Boolean);
      return code === 0 && theirs.join('\n') !== names.filter(Boolean).join('\n')
        ? `${JSON.stringify(names)}, and tar(1) ${JSON.stringify(theirs)}`
        : undefined;
    },
  });
}

async function namesIn(content: Buffer, sizes: readonly number[]): Promise<string[] | undefined> {
  const names: string[] = [];
  try {
    for await (const { name } of readTar(inPieces(content, sizes))) names.push(name);
  } catch {
    return undefined;
  }
  return names;
}

const MOST_BYTES = 256 * 1024;

/** Damaged outside or within: refused with a reason, or a package with a name and a version. */
function ipkTarget(folder: string): FuzzTarget {
  const packed = createIpk(simplePackage('hello', { files: { '/etc/x': 'x\n' } })).bytes;
  const inner = fc.constant(gunzipSync(packed));
  const file = join(folder, 'damaged.ipk');
  return property('ipk', 150, {
    inputs: fc.oneof(
      mutated(fc.constant(packed)),
      mutated(inner).map((bytes) => gzipSync(bytes)),
    ),
    check: async (content) => {
      await writeFile(file, content);
      try {
        const found = await inspectIpk(file, MOST_BYTES);
        return found.name !== '' && found.version !== '' ? undefined : 'a package without a name';
      } catch (error) {
        return error instanceof DepotError && error.status === 400 ? undefined : String(error);
      }
    },
  });
}
