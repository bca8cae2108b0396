import { join } from 'node:path';
import { rewriteFile } from '../../../device/durable-file.ts';
import { setUciOption } from '../../../config/uci-edit.ts';
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
        const before = (await tools.baseline.read(key))?.configs ?? {};
        for (const [config, text] of Object.entries(before)) {
          await writeConfig(tools, config, changedConfig(text, config, work.settings));
        }
        await note(`set ${Object.keys(work.settings).join(', ')}`);
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

/** @throws DepotError internal if the file is written so that an option cannot be set */
export function changedConfig(text: string, config: string, settings: Work['settings']): string {
  return Object.entries(settings).reduce((result, [name, value]) => {
    const [file, section = '', option = ''] = name.split('.');
    // The type is not used: the check found the section there.
    return file === config ? setUciOption(result, { section, type: '', option }, value) : result;
  }, text);
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
