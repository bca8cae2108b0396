import * as v from 'valibot';
import { createDiskAsking } from '../../device/disk/patience.ts';
import { DepotError } from '../../errors.ts';
import type { ContainerHost } from './host.ts';
import type { FeatureContext } from '../feature.ts';
import { isEnded } from '../../jobs/job.ts';
import { checkMove, hasEngine, isDataOnSystem } from './move-check.ts';
import { mayMove } from './move-plan.ts';
import { devicePath, oneOf } from '../../http/parameter-schemas.ts';
import { json, type TaskResult } from '../../http/respond.ts';
import { get, postTask, type Route } from '../../http/route.ts';
import { submissionResult } from '../../http/task-result.ts';

const overwrite = v.optional(oneOf(['true', 'chdir', 'false']));

/** Two moves of the data at once would undo each other. */
export const CONTAINER_LANE = 'container';

type ContainerTools = Pick<FeatureContext, 'queue' | 'submit'> & { container: ContainerHost };

/** Looked at, disks that have gone would keep the threads that all files are read by. */
const answers = createDiskAsking();

/** @throws DepotError unavailable if the disk of the data or of the target does not answer */
async function needAnswer({ settings }: ContainerHost, ...targets: string[]): Promise<void> {
  for (const path of [(await settings.read()).path, ...targets]) {
    if (await answers(path)) continue;
    throw new DepotError('unavailable', `cannot look at ${path}: its disk does not answer`);
  }
}

/** Where the container data is, and moving it. */
export function containerRoutes(tools: ContainerTools): Route[] {
  const { container } = tools;
  return [
    get({
      path: 'admin/store/docker_check_dir',
      summary: 'Whether the container data is on the system disk, and whether there is an engine',
      handle: async () => {
        await needAnswer(container);
        const [isOnSystem, isEngineThere] = await Promise.all([
          isDataOnSystem(container),
          hasEngine(container),
        ]);
        return json({
          code: 200,
          docker_on_system: isOnSystem && isEngineThere,
          has_engine: isEngineThere,
        });
      },
    }),
    get({
      path: 'admin/store/docker_check_migrate',
      summary: 'Whether the container data can be moved to a folder; changes nothing',
      params: { path: v.pipe(v.string(), v.minLength(1, 'it is empty')) },
      handle: ({ params }) => checkResult(container, params.path),
    }),
    postTask({
      path: 'admin/store/docker_migrate',
      summary:
        'Move the container data; overwrite is true to replace what is there, chdir to ' +
        'copy nothing',
      params: { path: devicePath, overwrite },
      handle: async ({ params }) => json(await migrate(tools, params)),
    }),
  ];
}

/** A path that is none is refused as everywhere, and told as what it is: a bad target. */
async function checkResult(container: ContainerHost, path: string): Promise<Response> {
  const checked = v.safeParse(devicePath, path);
  if (!checked.success) {
    const error = checked.issues[0].message;
    return json(
      { code: 400, msg: `cannot use the parameter path: ${error}`, result: 'bad', error },
      400,
    );
  }
  await needAnswer(container, path);
  const found = await checkMove(container, path, { isExact: false });
  return json({
    code: 200,
    result: found.result,
    ...(found.result === 'bad' ? { error: found.reasons.join('; ') } : {}),
  });
}

/** What cannot be is said at once, but not while a move may change that. The job checks again. */
async function migrate(
  { container, queue, submit }: ContainerTools,
  { path, overwrite: given }: { path: string; overwrite?: 'true' | 'chdir' | 'false' | undefined },
): Promise<TaskResult> {
  const isBusy = queue.all().some(({ lane, state }) => lane === CONTAINER_LANE && !isEnded(state));
  try {
    if (!isBusy) {
      await needAnswer(container, path);
      await mayMove(container, path, { overwrite: given, isExact: false });
    }
  } catch (error) {
    if (error instanceof DepotError && error.code === 'bad_request') {
      return { code: 1, stdout: '', stderr: error.message };
    }
    throw error;
  }
  const params = given === undefined || given === 'false' ? {} : { overwrite: given };
  return submissionResult(await submit('migrate', path, params));
}
