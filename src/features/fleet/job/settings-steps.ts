import { join } from 'node:path';
import { rewriteFile } from '../../../device/durable-file.ts';
import { DepotError } from '../../../errors.ts';
import type { Step } from '../../../jobs/plan.ts';
import type { Work } from '../rollout/work.ts';
import { hasSucceeded } from './success.ts';
import { succeeded } from './success.ts';
import type { FleetJobTools } from './tools.ts';

interface Task {
  work: Work;
  key: string;
}

/** Sets options in the device's configuration, and has its services read them. */
export function settingsSteps(tools: FleetJobTools, { work, key }: Task): Step[] {
  if (Object.keys(work.settings).length === 0) return [];
  return [
    {
      id: 'settings',
      label: 'settings',
      act: async ({ note }) => {
        const changed = (await tools.baseline.read(key))?.changed;
        if (changed === undefined) {
          throw new DepotError(
            'internal',
            'cannot set options: what the check found is not on record',
          );
        }
        for (const [config, text] of Object.entries(changed)) {
          await writeConfig(tools, config, text);
        }
        for (const line of tools.records.find(key)?.diff ?? []) await note(`set ${line}`);
        return undefined;
      },
    },
    reloadStep(tools, 'reload-settings'),
  ];
}

/** Puts back what the configuration was, if it was changed. */
export function settingsRepair(tools: FleetJobTools, { work, key }: Task): Step[] {
  if (Object.keys(work.settings).length === 0) return [];
  return [
    {
      id: 'restore-settings',
      label: 'restore settings',
      act: async (context) => {
        if (hasSucceeded(tools, key, context)) return undefined;
        const before = (await tools.baseline.read(key))?.configs ?? {};
        for (const [config, text] of Object.entries(before)) {
          await writeConfig(tools, config, text);
        }
        return undefined;
      },
    },
    reloadStep(tools, 'reload-restored'),
  ];
}

async function writeConfig({ paths }: FleetJobTools, config: string, text: string): Promise<void> {
  await rewriteFile(join(paths.uciDir, config), text);
}

/** OpenWrt's script has each service whose configuration changed read it again. */
function reloadStep({ paths, scriptEnvironment }: FleetJobTools, id: string): Step {
  return {
    id,
    label: 'reload settings',
    mustSucceed: false,
    command: (context) =>
      paths.isLive && !succeeded.read(context).isDone
        ? { argv: ['reload_config'], environment: scriptEnvironment, cwd: '/' }
        : undefined,
  };
}
