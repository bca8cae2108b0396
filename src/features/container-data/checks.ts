import type { DeviceCheck, Finding } from '../device-check.ts';
import { reasonOf, succeeds } from '../../errors.ts';
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
            try {
              await settings.read();
            } catch (error) {
              // One that was removed leaves what its owner has changed.
              if (await succeeds(engine.serviceManager())) return cannotStart(error);
            }
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

function cannotStart(error: unknown): Finding {
  return {
    state: 'error',
    message: `the container engine cannot start: ${reasonOf(error)}`,
    remedy:
      'mend that file, then restart the engine: `/etc/init.d/dockerd restart` or ' +
      '`systemctl restart docker`',
  };
}
