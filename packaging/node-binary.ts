import { reasonOf } from '../src/errors.ts';
import { readElf, type ElfHeaders } from './elf.ts';

export interface NodeBinary {
  /** Numbers and points. */
  version: string;
  /** Of the processor, as the kernel names it. */
  machine: string;
  /** OpenWrt's name. */
  architecture: string;
  /** OpenWrt's packages that bring the libraries it is linked with. */
  depends: string[];
}

/** The oldest Node that depotd runs on. */
const LEAST_VERSION: readonly [number, number] = [20, 19];

interface Machine {
  name: string;
  bits: 32 | 64;
  /** How musl's loader names it, where that is another name. */
  ofLoader?: string;
  /** One of OpenWrt's architectures; where it is the machine's own name, there is no other. */
  example: string;
}

/** By e_machine: what OpenWrt has and Node is built for. All are little-endian. */
const MACHINES: Readonly<Record<number, Machine>> = {
  3: { name: 'i386', bits: 32, example: 'i386_pentium4' },
  40: { name: 'arm', bits: 32, ofLoader: 'armhf', example: 'arm_cortex-a7_neon-vfpv4' },
  62: { name: 'x86_64', bits: 64, example: 'x86_64' },
  183: { name: 'aarch64', bits: 64, example: 'aarch64_cortex-a53' },
  243: { name: 'riscv64', bits: 64, example: 'riscv64_generic' },
};

/**
 * OpenWrt's packages by the beginning of a library's file name. Their names without a version are
 * provided by the ones with it.
 */
const LIBRARIES: readonly (readonly [string, string])[] = [
  ['libc.musl-', 'libc'],
  ['libc.so', 'libc'],
  ['ld-musl-', 'libc'],
  ['libgcc_s.so.1', 'libgcc'],
  ['libstdc++.so.6', 'libstdcpp'],
  ['libatomic.so.1', 'libatomic'],
  ['libz.so.1', 'zlib'],
  ['libcrypto.so.3', 'libopenssl'],
  ['libssl.so.3', 'libopenssl'],
  ['libuv.so.1', 'libuv'],
  ['libcares.so.2', 'libcares'],
  ['libnghttp2.so.14', 'libnghttp2'],
];

/**
 * Looks whether a file is a Node that a private runtime can be made of, from its bytes alone: it
 * may be for another machine than this.
 * @param path for the message
 * @throws Error that says what is wrong
 */
export function inspectNode(
  path: string,
  bytes: Buffer,
  {
    wanted,
    own = [],
  }: {
    /** OpenWrt's name of the architecture; needed where the file fits several. */
    wanted?: string | undefined;
    /** Names of libraries that come with it. */
    own?: readonly string[];
  } = {},
): NodeBinary {
  try {
    const headers = readElf(bytes);
    const machine = checkMachine(headers);
    const needed = headers.needed.filter((library) => !own.includes(library));
    return {
      version: checkVersion(bytes),
      machine: machine.name,
      architecture: chooseArchitecture(machine, wanted),
      depends: [...new Set(['libc', ...packagesOf(needed)])],
    };
  } catch (error) {
    throw new Error(`cannot pack ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

function checkMachine({ machine: number, bits, isLittleEndian, interpreter }: ElfHeaders): Machine {
  const machine = MACHINES[number];
  if (machine?.bits !== bits || !isLittleEndian) {
    const known = Object.values(MACHINES).map(({ name }) => name);
    throw new Error(
      `it is for ELF machine ${number} (${bits} bits, ` +
        `${isLittleEndian ? 'little' : 'big'}-endian); ${known.join(', ')} are known`,
    );
  }
  if (interpreter === undefined) {
    throw new Error('it is linked statically, so that nothing tells which libc it was made for');
  }
  const loader = `/lib/ld-musl-${machine.ofLoader ?? machine.name}.so.1`;
  if (interpreter !== loader) {
    throw new Error(
      `it was made for another libc: it asks for ${interpreter}, and OpenWrt's musl is ${loader}`,
    );
  }
  return machine;
}

/** Each of OpenWrt's that the binary fits: the machine's name stands for them. */
export const ANY = 'any';

function chooseArchitecture({ name, example }: Machine, wanted: string | undefined): string {
  const isOnly = example === name;
  if (wanted === ANY || (wanted === undefined && isOnly)) return name;
  if (wanted === undefined) {
    throw new Error(
      `it is for ${name}, of which OpenWrt has several kinds: give --arch, such as ` +
        `${example} (\`opkg print-architecture\` on the device)`,
    );
  }
  const fits = isOnly
    ? wanted === name
    : wanted.startsWith(`${name}_`) && /^[a-z0-9_.+-]+$/.test(wanted);
  if (!fits) throw new Error(`it is for ${name}, not for ${wanted}`);
  return wanted;
}

/**
 * Texts in every Node, in front of its version: where the inspector names itself, and where its
 * sources are.
 */
const VERSION_MARKS = ['node.js/v', 'nodejs.org/download/release/v'];

function checkVersion(bytes: Buffer): string {
  for (const mark of VERSION_MARKS) {
    const at = bytes.indexOf(mark, 0, 'latin1');
    const [, version, major, minor] =
      at === -1
        ? []
        : (/^((\d+)\.(\d+)\.\d+)/.exec(
            bytes.toString('latin1', at + mark.length, at + mark.length + 32),
          ) ?? []);
    if (version === undefined) continue;
    const [leastMajor, leastMinor] = LEAST_VERSION;
    const isNewEnough =
      Number(major) > leastMajor || (Number(major) === leastMajor && Number(minor) >= leastMinor);
    if (!isNewEnough) {
      throw new Error(`it is Node ${version}; ${LEAST_VERSION.join('.')} or newer is needed`);
    }
    return version;
  }
  throw new Error('it does not look like Node: no version is found in it');
}

function packagesOf(needed: readonly string[]): string[] {
  return needed.map((library) => {
    const known = LIBRARIES.find(([beginning]) => library.startsWith(beginning));
    if (known === undefined) {
      throw new Error(
        `it is linked with ${library}, which no package of OpenWrt is known to bring` +
          (/-[0-9a-f]{8}\.so/.test(library) ? '; give the whole wheel that it is from' : ''),
      );
    }
    return known[1];
  });
}
