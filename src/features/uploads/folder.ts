import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, open, readdir, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '../../device/command.ts';
import type { FeatureContext } from '../feature.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import { openPrivateFolder } from '../../device/private-folder.ts';
import { isDiskFull } from '../../device/disk/disk-full.ts';
import { freeBytesOf } from '../../device/disk/space.ts';
import { damagedFile, diskFull } from './refusals.ts';

/** What a file's name ends with: `run` or the ending of the package manager's own files. */
export type UploadKind = string;

/** A program that installs by itself; any other kind is a package. */
export const PROGRAM: UploadKind = 'run';

/** The folder where uploads wait for their job, under random names whatever they were called. */
export type UploadFolder = ReturnType<typeof createUploadFolder>;

export interface UploadFile {
  /** 32 hexadecimal digits. */
  id: string;
  /** @throws DepotError no_space if the disk is full */
  write: (piece: Uint8Array) => Promise<void>;
  /** Resolves when all of it is in the file. */
  finish: () => Promise<void>;
}

/** What is in an upload: of a package, its name and version. */
export interface UploadContent {
  package?: { name: string; version: string; installedBytes?: number | undefined };
}

/** Random names, which nobody can have planted; nothing is known here of anybody else's files. */
const FILE_NAME = /^([0-9a-f]{32})\.([a-z]+)$/;

export function createUploadFolder(
  { paths, scriptEnvironment }: Pick<FeatureContext, 'paths' | 'scriptEnvironment'>,
  { files, commands }: PackageManager,
) {
  const folder = paths.uploadDir;
  const kinds = [files.ending, PROGRAM];
  const fileOf = (id: string, kind: UploadKind): string => join(folder, `${id}.${kind}`);
  return {
    kinds,
    fileOf,
    /** @throws DepotError unavailable if the folder is not the daemon's own */
    create: (kind: UploadKind): Promise<UploadFile> => createFile(folder, kind),
    /** Judges a file by its content. @throws DepotError bad_request that says what is wrong */
    inspect: async (id: string, kind: UploadKind): Promise<UploadContent> =>
      kind === PROGRAM
        ? inspectProgram(fileOf(id, kind))
        : { package: await files.inspect(fileOf(id, kind), await freeBytesOf(paths.root)) },
    installer: async (id: string, kind: UploadKind): Promise<Command> => {
      const file = fileOf(id, kind);
      if (kind !== PROGRAM) return commands.installFile(file);
      await chmod(file, 0o700);
      // No arguments, and the clean environment of all commands.
      return { argv: [file], environment: scriptEnvironment };
    },
    /** Never fails: what cannot be removed, on a read-only disk, goes with the next start. */
    remove: async (id: string): Promise<void> => {
      for (const kind of kinds) await rm(fileOf(id, kind), { force: true }).catch(() => undefined);
    },
    list: async (): Promise<string[]> =>
      (await readdir(folder).catch(() => [])).flatMap((name) => {
        const [, id, kind = ''] = FILE_NAME.exec(name) ?? [];
        return id !== undefined && kinds.includes(kind) ? [id] : [];
      }),
    freeBytes: async (): Promise<number> => {
      await (await openPrivateFolder(folder)).close();
      return freeBytesOf(folder);
    },
  };
}

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

async function createFile(folder: string, kind: UploadKind): Promise<UploadFile> {
  const id = randomBytes(16).toString('hex');
  await using directory = await openPrivateFolder(folder);
  try {
    // By the folder's descriptor: the folder that was checked is the one that is written to.
    const path = `/proc/self/fd/${directory.fd}/${id}.${kind}`;
    const file = await open(path, NEW_FILE, 0o600);
    return { id, write: (piece) => writeAll(file, piece), finish: () => file.close() };
  } catch (error) {
    throw asFull(error);
  }
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  try {
    for (let from = 0; from < piece.length;) from += (await file.write(piece, from)).bytesWritten;
  } catch (error) {
    throw asFull(error);
  }
}

function asFull(error: unknown): unknown {
  return isDiskFull(error) ? diskFull(error) : error;
}

/** The kernel reads no more of a script's first line. */
const HEAD_BYTES = 256;

/** A script says what runs it (execve(2)); a program begins with ELF's magic number (elf(5)). */
async function inspectProgram(path: string): Promise<UploadContent> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const head = buffer.toString('latin1', 0, bytesRead);
  // The carriage return would be part of the name of the program that is to run it.
  if (/^#![^\n]*\r\n/.test(head)) {
    throw damagedFile('its first line ends with a carriage return, as Windows writes it');
  }
  if (/^(?:#!|\u007fELF)/.test(head)) return {};
  throw damagedFile('a program begins with "#!" or as ELF does, and this file does not');
}
