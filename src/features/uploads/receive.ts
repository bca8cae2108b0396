import { createHash } from 'node:crypto';
import { bounded } from '../../device/byte-reader.ts';
import { createConcurrencyLimit } from '../../device/concurrency-limit.ts';
import type { FilePart } from '../../http/multipart.ts';
import { PROGRAM, type UploadContent, type UploadFolder, type UploadKind } from './folder.ts';
import { isEnded, type Job } from '../../jobs/job.ts';
import { isPackageName } from '../../package-management/names.ts';
import { damagedFile, tooLarge, wrongEnding } from './refusals.ts';

/** A file that was sent, whole and judged, waiting for its job. */
export interface ReceivedUpload extends UploadContent {
  id: string;
  kind: UploadKind;
  /** The name it was sent under, fit to be shown. */
  shownName: string;
  md5: string;
  sha256: string;
  sizeBytes: number;
}

interface IncomingFile extends FilePart {
  limitBytes: number;
}

/**
 * Receives files. Invariants:
 *  - a file is in the folder under a random name, or not at all: what refuses it removes it first;
 *  - one piece of it is in memory at a time;
 *  - it stays until its job has ended.
 */
export type Uploads = ReturnType<typeof createUploads>;

/** Uploads under way at a time; each holds a connection, a file and some buffers. */
const MOST_AT_A_TIME = 4;

export function createUploads(folder: UploadFolder) {
  const limit = createConcurrencyLimit({
    most: MOST_AT_A_TIME,
    mostWaiting: 0,
    busy: `cannot take the upload: ${MOST_AT_A_TIME} others are under way`,
  });
  return {
    /**
     * @throws DepotError bad_request, too_large, no_space, unavailable; and whatever the content's
     *   source throws
     */
    receive: (file: IncomingFile): Promise<ReceivedUpload> => limit(() => receive(folder, file)),
    removeIfEnded: ({ kind, state, params }: Job): void => {
      if (kind === 'upload' && isEnded(state) && params.upload !== undefined) {
        void folder.remove(params.upload);
      }
    },
    /** Removes what belongs to no job that is still to run: left by a daemon that went down. */
    sweep: async (jobs: readonly Job[]): Promise<void> => {
      const open = jobs.filter(({ state }) => !isEnded(state));
      const wanted = new Set(open.map(({ params }) => params.upload));
      for (const id of await folder.list()) if (!wanted.has(id)) await folder.remove(id);
    },
  };
}

async function receive(
  folder: UploadFolder,
  { name, content, limitBytes }: IncomingFile,
): Promise<ReceivedUpload> {
  const kind = kindOf(name, folder.kinds);
  const file = await folder.create(kind);
  try {
    const [md5, sha256] = [createHash('md5'), createHash('sha256')];
    let bytes = 0;
    try {
      for await (const piece of bounded(content, limitBytes, () => tooLarge(limitBytes))) {
        bytes += piece.length;
        md5.update(piece);
        sha256.update(piece);
        await file.write(piece);
      }
    } finally {
      await file.finish();
    }
    const found = await folder.inspect(file.id, kind);
    if (found.package !== undefined && !isPackageName(found.package.name)) {
      throw damagedFile('the package has a name that no package manager could be given');
    }
    const hashes = { md5: md5.digest('hex'), sha256: sha256.digest('hex') };
    return { ...found, ...hashes, id: file.id, kind, shownName: shownName(name), sizeBytes: bytes };
  } catch (error) {
    await folder.remove(file.id);
    throw error;
  }
}

/** Of what the sender says nothing but the ending of the name is believed. */
function kindOf(name: string | undefined, kinds: readonly UploadKind[]): UploadKind {
  const ending = /\.([^.]+)$/.exec(name ?? '')?.[1]?.toLowerCase() ?? '';
  if (kinds.includes(ending)) return ending;
  throw wrongEnding(kinds.filter((each) => each !== PROGRAM));
}

const MOST_SHOWN_CHARACTERS = 128;

/** The last part of a file's name, without what a terminal or a log takes for more than text. */
export function shownName(name = ''): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  return last.replace(/[^\p{L}\p{N}\p{M}\p{P}\p{S} ]/gu, '').slice(-MOST_SHOWN_CHARACTERS);
}
