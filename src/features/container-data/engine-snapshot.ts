import { DepotError } from '../../errors.ts';
import type { ContainerSummary } from './engine/engine.ts';
import type { ContainerHost } from './host.ts';
import { recordedAct, type Act, type StepContext } from '../../jobs/plan.ts';
import { textOf } from './engine-control.ts';
import { move, type MoveRecord } from './move-record.ts';

/** On record before anything else is done: whatever happens then, it is to be so again. */
export function snapshotStep(host: ContainerHost): Act {
  return recordedAct('look', 'look what runs', async (context) => {
    const { path, file, kind, text } = await host.settings.read();
    const { real: source } = await host.locations.inspect(path);
    const setting = { path, file, kind, ...(text !== undefined && { text }) };
    const running = await readRunning(host, source, context.note);
    move.write(context, { setting, source, ...running });
  });
}

/** Before the engine is stopped. One that was killed since has told what ran at the first look. */
export function rememberStep(host: ContainerHost): Act {
  return recordedAct('remember', 'remember what runs', async (context) => {
    const before = move.read(context);
    const doesAnswer = (await host.engine.state()).kind === 'answers';
    const now = doesAnswer ? await readRunning(host, before.source, context.note) : before;
    const { containers } = now;
    move.write(context, { isStopping: true, hasRun: before.hasRun || now.hasRun, containers });
  });
}

/** @throws DepotError unavailable if somebody has started the engine since it was stopped */
export async function needStopped({ engine }: ContainerHost, dataRoot: string): Promise<void> {
  const state = await engine.state();
  const holders = await engine.holders(dataRoot);
  if (state.kind === 'absent' && holders.length === 0) return;
  throw new DepotError(
    'unavailable',
    'cannot trust the copy: somebody has started the container engine ' +
      `meanwhile${holders.length > 0 ? ` (${textOf(holders)})` : ''}`,
  );
}

/** An engine that was killed has left its containers running: they are known by their processes. */
async function readRunning(
  { engine }: ContainerHost,
  dataRoot: string,
  note: StepContext['note'],
): Promise<Pick<MoveRecord, 'hasRun' | 'containers'>> {
  const { kind } = await engine.state();
  const running =
    kind === 'answers' ? await lasting(engine, note).catch(() => undefined) : undefined;
  if (running !== undefined) return { hasRun: true, containers: running };
  const holders = await engine.holders(dataRoot);
  const ids = new Set(holders.flatMap(({ container }) => container ?? []));
  return {
    hasRun: kind !== 'absent' || holders.length > 0,
    containers: [...ids].map((id) => ({ id, name: id.slice(0, 12) })),
  };
}

/** What runs and is to run again. */
async function lasting(
  engine: ContainerHost['engine'],
  note: StepContext['note'],
): Promise<ContainerSummary[]> {
  const found = await Promise.all(
    (await engine.running()).map(async (container) => ({
      container,
      state: await engine.inspect(container.id),
    })),
  );
  const passing = found.filter(({ state }) => typeof state === 'object' && state.isRemovedAtEnd);
  for (const { container } of passing) {
    await note(
      `${container.name} is one that the engine removes when it stops (--rm); it will not ` +
        'run again',
    );
  }
  return found.filter((entry) => !passing.includes(entry)).map(({ container }) => container);
}
