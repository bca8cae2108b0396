import type { DeviceCheck } from '../device-check.ts';
import { reasonOf } from '../../errors.ts';
import type { ContainerHost } from './host.ts';

/** Whether the container engine answers, if the device has one. */
export function containerChecks({ engine, settings }: ContainerHost): readonly DeviceCheck[] {
  return [
    {
      id: 'container-engine',
      run: async () => {
        const found = await engine.state();
        switch (found.kind) {
          case 'answers':
            return { state: 'ok', message: `it answers; its data is in ${found.dataRoot}` };
          case 'absent':
            return settings.read().then(
              () => ({ state: 'skipped', message: 'no container engine runs here' }),
              (error: unknown) => ({
                state: 'error',
                message: `the container engine cannot start: ${reasonOf(error)}`,
                remedy:
                  'mend that file, then restart the engine: `/etc/init.d/dockerd restart` or ' +
                  '`systemctl restart docker`',
              }),
            );
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
