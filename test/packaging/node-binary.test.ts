import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { inspectNode, type NodeBinary } from '../../packaging/node-binary.ts';
import { readRuntime } from '../../packaging/node-runtime.ts';
import { createElf, type ElfTraits } from './elf-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const AARCH64: ElfTraits = {
  machine: 183,
  interpreter: '/lib/ld-musl-aarch64.so.1',
  needed: ['libc.musl-aarch64.so.1'],
};
const ARM: ElfTraits = {
  machine: 40,
  bits: 32,
  interpreter: '/lib/ld-musl-armhf.so.1',
  needed: ['libatomic.so.1', 'libc.so'],
};

test('a Node for musl is taken with its version, its architecture and the packages of its libraries', async () => {
  expect(await inspect(createElf())).toEqual({
    version: '20.20.2',
    machine: 'x86_64',
    architecture: 'x86_64',
    depends: ['libc', 'libstdcpp', 'libgcc'],
  });
  expect(await inspect(createElf(AARCH64), 'aarch64_cortex-a53')).toEqual({
    version: '20.20.2',
    machine: 'aarch64',
    architecture: 'aarch64_cortex-a53',
    depends: ['libc'],
  });
  expect(await inspect(createElf(ARM), 'arm_cortex-a7_neon-vfpv4')).toEqual({
    version: '20.20.2',
    machine: 'arm',
    architecture: 'arm_cortex-a7_neon-vfpv4',
    depends: ['libc', 'libatomic'],
  });
});

test('the version is found where only the address of the sources tells it', async () => {
  const binary = createElf({
    text: 'https://nodejs.org/download/release/v24.1.0/node-v24.1.0.tar.gz\0',
  });
  expect((await inspect(binary)).version).toBe('24.1.0');
});

test('the Node that runs this test is refused, for it is made for glibc', () => {
  expect(() => readRuntime(process.execPath, {})).toThrow(
    /^cannot pack \/.*: it was made for another libc: it asks for \/lib.*\/ld-linux-.*, and OpenWrt's musl is \/lib\/ld-musl-/,
  );
});

test.each<[string, Buffer, string, string?]>([
  ['a text', Buffer.from('#!/bin/sh\nexec node "$@"\n'.repeat(9)), 'it is no ELF file'],
  ['nothing', Buffer.alloc(0), 'it is no ELF file'],
  ['a file cut off in its headers', createElf().subarray(0, 200), 'it is cut off or damaged'],
  ['an object file', createElf({ type: 1 }), 'it is no program'],
  ['a damaged table', damaged(), 'it is cut off or damaged'],
  [
    'another machine',
    createElf({ machine: 8 }),
    'it is for ELF machine 8 (64 bits, little-endian); i386, arm, x86_64, aarch64, riscv64 are known',
  ],
  [
    'the other byte order',
    createElf({ ...AARCH64, isBigEndian: true }),
    'it is for ELF machine 183 (64 bits, big-endian)',
  ],
  ['a static program', createElf({ interpreter: undefined }), 'it is linked statically'],
  [
    'glibc',
    createElf({ interpreter: '/lib64/ld-linux-x86-64.so.2' }),
    'it asks for /lib64/ld-linux-x86-64.so.2',
  ],
  [
    'soft-float arm',
    createElf({ ...ARM, interpreter: '/lib/ld-musl-arm.so.1' }),
    "OpenWrt's musl is /lib/ld-musl-armhf.so.1",
    'arm_cortex-a7',
  ],
  [
    'no word on which aarch64',
    createElf(AARCH64),
    'it is for aarch64, of which OpenWrt has several kinds: give --arch, such as aarch64_cortex-a53',
  ],
  [
    'an architecture that does not fit',
    createElf(AARCH64),
    'it is for aarch64, not for x86_64',
    'x86_64',
  ],
  [
    'an architecture that is a path',
    createElf(AARCH64),
    'not for aarch64_/../../tmp',
    'aarch64_/../../tmp',
  ],
  [
    'an old Node',
    createElf({ text: 'node.js/v20.18.3\0' }),
    'it is Node 20.18.3; 20.19 or newer is needed',
  ],
  [
    'something else than Node',
    createElf({ text: 'ruby 3.3\0' }),
    'it does not look like Node: no version is found in it',
  ],
  [
    'a library that no package brings',
    createElf({ needed: ['libsystemd.so.0'] }),
    'it is linked with libsystemd.so.0, which no package of OpenWrt is known to bring',
  ],
])('%s is refused', async (...[, bytes, reason, architecture]) => {
  await expect(inspect(bytes, architecture)).rejects.toThrow(reason);
});

test('a file that is not there is refused by name', () => {
  expect(() => readRuntime('/nonexistent/node', {})).toThrow(
    /^cannot pack \/nonexistent\/node: ENOENT/,
  );
});

async function inspect(bytes: Buffer, architecture?: string): Promise<NodeBinary> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'node'), bytes);
  return inspectNode(join(folder, 'node'), bytes, { wanted: architecture });
}

/** One whose table of segments is said to lie beyond its end. */
function damaged(): Buffer {
  const bytes = createElf();
  bytes.writeBigUInt64LE(2n ** 40n, 32);
  return bytes;
}
