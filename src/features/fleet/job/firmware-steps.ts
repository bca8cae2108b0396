import { freemem } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '../../../device/command.ts';
import type { DepotError } from '../../../errors.ts';
import { sizeText } from '../../../format-bytes.ts';
import { unixNow } from '../../../jobs/job.ts';
import { isSignalled } from '../../../jobs/run-command.ts';
import {
  plainAct,
  type Act,
  type CommandStep,
  type Step,
  type StepContext,
} from '../../../jobs/plan.ts';
import { beforeChangeStep } from '../../../package-management/package-tools.ts';
import { readRelease } from '../agent/device-attributes.ts';
import { fleetFailure } from '../failures.ts';
import type { Work, WorkFile } from '../rollout/work.ts';
import type { FleetJobTools, Task } from './fleet-job-tools.ts';

/** sysupgrade goes on in a file system in memory: its programs, and the settings that are kept. */
const SYSUPGRADE_BYTES = 16 * 1024 ** 2;
/** How long the step waits for procd to end all processes and restart the device. */
const RESTART_S = 300;
const FLASH = 'firmware';

interface Firmware extends NonNullable<Work['firmware']> {
  file: WorkFile;
}

function firmwareOf({ firmware, files }: Work): Firmware | undefined {
  const file = files.find(({ kind }) => kind === 'firmware');
  return firmware === undefined || file === undefined ? undefined : { ...firmware, file };
}

/**
 * A firmware image, by OpenWrt's own sysupgrade: it judges the image, and what follows is its
 * work. A device that runs the wanted version has nothing to do: one whose settings were not kept,
 * and with them the record of this action, would begin it again and again.
 */
export function firmwareSteps(tools: FleetJobTools, { work }: Task): Step[] {
  const firmware = firmwareOf(work);
  if (firmware === undefined) return [];
  const { file, version, keep_settings: keepsSettings } = firmware;
  const image = tools.downloads.fileOf(file);
  const step = (id: string, label: string, argv: Command['argv']): CommandStep => ({
    id,
    label,
    mustSucceed: true,
    command: async () =>
      (await isRunning(tools, version))
        ? undefined
        : { argv, environment: tools.scriptEnvironment },
    failure: (context) => failureOf(file, context),
  });
  const keep = keepsSettings ? [] : ['-n'];
  // sysupgrade ends this shell with everything else: if the shell goes on, it has failed.
  const flash = `"$@" && sleep ${RESTART_S} || exit; echo "the device did not restart"; exit 1`;
  return [
    memoryStep(tools, firmware),
    step('firmware-test', 'check', ['sysupgrade', '-T', image]),
    beforeChangeStep(tools, 'upgrade'),
    step(FLASH, 'install the firmware', ['sh', '-c', flash, 'sh', 'sysupgrade', ...keep, image]),
  ];
}

function memoryStep({ paths }: FleetJobTools, { file }: Firmware): Act {
  return plainAct('firmware-memory', 'check', () => {
    const isInMemory = paths.uploadDir.startsWith('/tmp/');
    const needed = SYSUPGRADE_BYTES + (isInMemory ? 0 : file.bytes);
    if (freemem() >= needed) return;
    const message =
      `cannot install ${file.label}: ${sizeText(needed)} of memory have to be free, and ` +
      `${sizeText(freemem())} are`;
    throw fleetFailure('command_failed', 'firmware_refused', message);
  });
}

/** After the boot: the new version runs, or the old one still does. Nothing is put back. */
export function firmwareRepair(tools: FleetJobTools, { work, key }: Task): Step[] | undefined {
  const firmware = firmwareOf(work);
  if (firmware === undefined) return undefined;
  return [
    plainAct('firmware-after', 'check', async ({ job, callDone, addToError }) => {
      if (job.verdict?.state !== 'interrupted') return;
      const { version } = firmware;
      if (await isRunning(tools, version)) {
        const message = `${work.title}; the firmware ${version} runs`;
        const end = { result: 'success', message, exitCode: 0, at: unixNow() } as const;
        await tools.records.update(key, { end });
        callDone();
      } else addToError(`the firmware ${version} does not run`);
    }),
  ];
}

async function failureOf(
  { label }: WorkFile,
  { job, lastPrinted }: StepContext,
): Promise<DepotError> {
  // All processes are ended, in no order: it is a failure only where the device does not restart.
  const isEnded = job.at === FLASH && isSignalled(job.lastExitCode ?? 0);
  if (isEnded) await delay(RESTART_S * 1000, undefined, { ref: false });
  const said = (await lastPrinted(400)).trim().replaceAll('\n', '; ');
  const code = job.lastExitCode ?? 'no exit code';
  const text = `cannot install ${label}: sysupgrade ended with ${code}: ${said}`;
  return fleetFailure('command_failed', 'firmware_refused', text);
}

/** By its release, or by its revision: of snapshots only that differs. */
async function isRunning({ paths }: FleetJobTools, version: string): Promise<boolean> {
  const release = await readRelease(paths);
  return [release.get('DISTRIB_RELEASE'), release.get('DISTRIB_REVISION')].includes(version);
}
