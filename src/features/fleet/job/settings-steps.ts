import { join } from 'node:path';
import { rewriteFile } from '../../../device/durable-file.ts';
import { DepotError } from '../../../errors.ts';
import { plainAct, type Step } from '../../../jobs/plan.ts';
import { hasSucceeded, succeeded, type FleetJobTools, type Task } from './fleet-job-tools.ts';

/** Sets options in the device's configuration, and has its services read them. */
export function settingsSteps(tools: FleetJobTools, { work, key }: Task): Step[] {
  if (Object.keys(work.settings).length === 0) return [];
  return [
    plainAct('settings', 'settings', async ({ note }) => {
      const changed = (await tools.baseline.read(key))?.changed;
      if (changed === undefined) {
        const message = 'cannot set options: what the check found is not on record';
        throw new DepotError('internal', message);
      }
      await writeConfigs(tools, changed);
      for (const line of tools.records.find(key)?.diff ?? []) await note(`set ${line}`);
    }),
    reloadStep(tools, 'reload-settings'),
  ];
}

/** Puts back what the configuration was, if it was changed. */
export function settingsRepair(tools: FleetJobTools, { work, key }: Task): Step[] {
  if (Object.keys(work.settings).length === 0) return [];
  return [
    plainAct('restore-settings', 'restore settings', async (context) => {
      if (hasSucceeded(tools, key, context)) return;
      await writeConfigs(tools, (await tools.baseline.read(key))?.configs ?? {});
    }),
    reloadStep(tools, 'reload-restored'),
  ];
}

async function writeConfigs({ paths }: FleetJobTools, texts: Readonly<Record<string, string>>) {
  for (const [config, text] of Object.entries(texts)) {
    await rewriteFile(join(paths.uciDir, config), text);
  }
}

/** OpenWrt's script has each service whose configuration changed read it again. */
function reloadStep({ paths, scriptEnvironment }: FleetJobTools, id: string): Step {
  return {
    id,
    label: 'reload settings',
    mustSucceed: false,
    command: (context) =>
      paths.isLive && !succeeded.read(context).isDone
        ? { argv: ['reload_config'], environment: scriptEnvironment }
        : undefined,
  };
}
