import type { IncomingMessage } from 'node:http';
import * as v from 'valibot';
import { DepotError, type ErrorCode } from '../../errors.ts';
import type { FeatureContext } from '../feature.ts';
import { HELD_S, type HeldUploads } from './held.ts';
import type { RunRecords } from './run-records.ts';
import type { ReceivedUpload, Uploads } from './receive.ts';
import { PROGRAM, type UploadFolder } from './folder.ts';
import { badForm, moreThanFree, tooLarge } from './refusals.ts';
import { paramsOf } from './install-plan.ts';
import { checkToken } from '../../http/guard.ts';
import { flag, isOn } from '../../http/parameter-schemas.ts';
import { receiveFile } from '../../http/multipart.ts';
import { checkParameters, saidOtherwise } from '../../http/parameters.ts';
import { json } from '../../http/respond.ts';
import { get, post, postTask, postUpload, type ApiRequest, type Route } from '../../http/route.ts';
import { submissionResult } from '../../http/task-result.ts';

export interface UploadTools extends Pick<FeatureContext, 'submit'> {
  uploads: Uploads;
  folder: Pick<UploadFolder, 'kinds' | 'freeBytes' | 'remove'>;
  records: RunRecords;
  held: HeldUploads;
  /** Whether what the upload's task replaced can be put back. */
  canUndo: (taskId: string) => Promise<boolean>;
  limitBytes: number;
}

/** What a form may have around its file. */
const FORM_BYTES = 64 * 1024;

/** What the reader of the form refuses it with; whatever refuses the file explains itself. */
const FORM_FAULTS: readonly ErrorCode[] = ['bad_request', 'wrong_content_type'];

const fileId = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/, '32 hexadecimal digits are expected'));
/** A record of an older version has the id of its task. */
const recordId = v.pipe(
  v.string(),
  v.regex(/^(?:\d{1,12}-)?[0-9a-f]{32}$/, 'seconds, a dash and an MD5 are expected'),
);

/** Files that are sent to be installed, and what they brought. */
export function uploadRoutes(tools: UploadTools): Route[] {
  const { records, submit } = tools;
  return [
    postUpload({
      path: 'admin/store/upload',
      summary: `Install a file: ${tools.folder.kinds.map((kind) => `.${kind}`).join(' or ')}`,
      params: { hold: v.optional(flag) },
      handle: (request) => handleUpload(tools, request),
    }),
    postTask({
      path: 'admin/store/install_file',
      summary: 'Install a file that was sent with hold=1',
      params: { id: fileId },
      handle: ({ params: { id }, session }) => {
        const upload = tools.held.release(id, session.token);
        // What refuses it may pass, such as a full queue.
        const keep = (): Promise<void> => tools.held.hold(upload, session.token);
        return submitUpload(tools, upload, () => keep().catch(() => undefined));
      },
    }),
    post({
      path: 'admin/store/drop_file',
      summary: 'Drop a file that was sent with hold=1',
      params: { id: fileId },
      handle: async ({ params: { id }, session }) => {
        await tools.folder.remove(tools.held.release(id, session.token).id);
        return json({ code: 0 });
      },
    }),
    get({
      path: 'admin/store/run_records',
      summary: 'What uploads brought, and when',
      handle: async () => {
        // A program that brought no package left nothing that could be taken back.
        const found = (await records.all()).filter(
          ({ packages, package: content }) => packages.length > 0 || content !== undefined,
        );
        const shown = found.map(({ id, ts, md5, file }) => ({ id, ts, md5, file }));
        return json({ code: 200, records: shown });
      },
    }),
    postTask({
      path: 'admin/store/unrun',
      summary: 'Remove what an upload brought, and its record',
      params: { id: recordId },
      handle: async ({ params: { id } }) => {
        const record = await records.find(id);
        // As iStore's page expects it: whatever fails says why in its body.
        if (record === undefined) {
          return json({ code: 1, stdout: '', stderr: `cannot find the record ${id}` });
        }
        const { file, job = id, package: name, packages } = record;
        // The package was there before, in another version.
        const isReplaced = name !== undefined && !packages.includes(name);
        const canGoBack = isReplaced && (await tools.canUndo(job));
        const submission = canGoBack
          ? submit('undo', file, { task_id: job })
          : submit('unrun', file, { id });
        return json(submissionResult(await submission));
      },
    }),
    post({
      path: 'admin/store/del_record',
      summary: 'Forget an upload; what it brought stays',
      params: { id: recordId },
      handle: async ({ params: { id } }) => {
        // A record that is gone already is what was asked for.
        await records.remove(id);
        return json({ code: 0 });
      },
    }),
  ];
}

async function handleUpload(
  tools: UploadTools,
  { context, session, params }: ApiRequest<{ hold?: string | undefined }>,
): Promise<Response> {
  const { uploads, folder, held } = tools;
  let { hold } = params;
  const { incoming } = context.env as { incoming: IncomingMessage };
  const limitBytes = Math.max(0, tools.limitBytes - held.sizeBytes());
  await checkSize({ ...tools, limitBytes }, incoming);
  const upload: ReceivedUpload = await receiveFile(incoming, {
    receive: (part) => uploads.receive({ ...part, limitBytes }),
    fields: {
      // The token need not be there, but is not wrong.
      token: (value) => checkToken([value], session),
      hold: (value) => void (hold = sameFlag('hold', hold, value)),
    },
    discard: ({ id }) => folder.remove(id),
  }).catch((error: unknown) => {
    const isFormFault = error instanceof DepotError && error.explanation === undefined;
    throw isFormFault && FORM_FAULTS.includes(error.code) ? badForm(error) : error;
  });
  if (!isOn(hold)) return submitUpload(tools, upload, () => folder.remove(upload.id));
  await held.hold(upload, session.token);
  return json({ code: 0, stdout: '', stderr: '', ...aboutFile(upload), held_s: HELD_S });
}

/**
 * What a field of the form says, which was not said otherwise before.
 * @throws DepotError bad_request
 */
function sameFlag(name: string, before: string | undefined, value: string): string {
  checkParameters({ [name]: flag }, new Map([[name, [value]]]));
  if (before === undefined || before === value) return value;
  throw saidOtherwise(name);
}

/** @param onRefusal what becomes of the file if no task is taken for it */
async function submitUpload(
  { submit }: UploadTools,
  upload: ReceivedUpload,
  onRefusal: () => Promise<void>,
): Promise<Response> {
  try {
    return json(submissionResult(await submit('upload', upload.shownName, paramsOf(upload))));
  } catch (error) {
    await onRefusal();
    throw error;
  }
}

/** What a file is, for people who decide. */
export function aboutFile(upload: ReceivedUpload): object {
  const { id, kind, shownName, sizeBytes, sha256, package: content } = upload;
  return {
    file: id,
    name: shownName,
    kind: kind === PROGRAM ? 'program' : 'package',
    ...(content !== undefined && { package: content.name, version: content.version }),
    size_bytes: sizeBytes,
    sha256,
  };
}

/** What the request says of its size is enough to refuse it before it is read. */
async function checkSize({ limitBytes, folder }: UploadTools, { headers }: IncomingMessage) {
  const sizeBytes = Number(headers['content-length'] ?? 0);
  if (sizeBytes > limitBytes + FORM_BYTES) throw tooLarge(limitBytes);
  const free = await folder.freeBytes();
  if (sizeBytes > free) throw moreThanFree(sizeBytes, free);
}
