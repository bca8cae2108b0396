import type { DeviceCheck, Finding } from '../device-check.ts';
import type { EngineView } from './engine-view.ts';

/** So many starts again, the last of them not long ago, are no chance. */
const MANY = 3;
const LATELY_S = 600;
const MOST_ASKED = 100;

export function restartCheck(engine: EngineView): DeviceCheck {
  return {
    id: 'container-restarts',
    run: async (): Promise<Finding> => {
      const all = await engine.containers();
      if (typeof all === 'string') {
        return { state: 'skipped', message: 'no container engine answers here' };
      }
      const alive = all.filter(({ state }) => state === 'running' || state === 'restarting');
      const found = await Promise.all(
        alive.slice(0, MOST_ASKED).map(async ({ id, name, state }) => {
          const restarts = await engine.restarts(id);
          if (restarts === undefined || restarts.count < MANY) return [];
          const since = Date.now() / 1000 - restarts.startedAt;
          return state === 'restarting' || since < LATELY_S ? [{ name, ...restarts }] : [];
        }),
      );
      const loops = found.flat().map(({ name, count }) => `${name} (${count} times)`);
      return loops.length === 0
        ? { state: 'ok', message: 'no container is started again and again' }
        : {
            state: 'warning',
            message: `containers are started again and again: ${loops.join(', ')}`,
            remedy: 'look at why it ends: `docker logs NAME`',
          };
    },
  };
}
