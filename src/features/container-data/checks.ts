import type { DeviceCheck } from '../device-check.ts';
import type { ContainerEngine } from './engine/engine.ts';

/** Whether the container engine answers, if the device has one. */
export function containerChecks({ state }: Pick<ContainerEngine, 'state'>): readonly DeviceCheck[] {
  return [
    {
      id: 'container-engine',
      run: async () => {
        const found = await state();
        switch (found.kind) {
          case 'answers':
            return { state: 'ok', message: `it answers; its data is in ${found.dataRoot}` };
          case 'absent':
            return { state: 'skipped', message: 'no container engine runs here' };
          case 'silent':
            return {
              state: 'error',
              message: 'the container engine has its socket open and gives no answer',
              remedy: 'restart it: `/etc/init.d/dockerd restart` or `systemctl restart docker`',
            };
        }
      },
    },
  ];
}
