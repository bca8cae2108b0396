import { join } from 'node:path';
import type { Paths } from '../../../device/paths.ts';
import { DepotError } from '../../../errors.ts';
import { run } from '../../../device/exec.ts';
import { isThere } from '../../../device/is-there.ts';
import type { ContainerSettings } from '../options.ts';

type Argv = [string, ...string[]];

/** Who starts and stops the engine, and how. */
export interface ServiceManager {
  kind: 'procd' | 'systemd' | 'command';
  name: string;
  start: Argv;
  stop: Argv;
}

export interface ServiceManagerOptions {
  paths: Paths;
  environment: Record<string, string>;
  /** The settings in force when it is called. */
  settings: () => ContainerSettings;
}

const UNIT_FOLDERS = [
  ...['/etc/systemd/system', '/run/systemd/system'],
  ...['/usr/lib/systemd/system', '/lib/systemd/system'],
];

/** @throws DepotError unavailable if nobody is there */
export async function findServiceManager(options: ServiceManagerOptions): Promise<ServiceManager> {
  const { paths, settings } = options;
  const { engine, start, stop } = settings();
  const initScript = paths.onDevice('/etc/init.d/dockerd');
  if (engine === 'command') {
    const argvs = { start: argvOf(start), stop: argvOf(stop) };
    return { kind: 'command', name: 'the configured commands', ...argvs };
  }
  if (engine === 'procd' || (engine === 'auto' && (await isThere(initScript)))) {
    return {
      kind: 'procd',
      name: initScript,
      start: [initScript, 'start'],
      stop: [initScript, 'stop'],
    };
  }
  if (engine === 'systemd' || (await hasUnit(paths))) return systemdServiceManager(options);
  throw new DepotError(
    'unavailable',
    `cannot tell who starts the container engine: there is neither ${initScript} nor a ` +
      'systemd unit docker; container.engine can name commands',
  );
}

/** Stopped with a unit docker.socket, which would start the engine with the first question. */
async function systemdServiceManager(options: ServiceManagerOptions): Promise<ServiceManager> {
  const { environment } = options;
  const { stdout } = await run(
    { argv: ['systemctl', 'is-active', 'docker.socket'], environment },
    { timeoutMs: 10_000, maxBytes: 4096 },
  );
  const hasSocket = stdout.trim() === 'active';
  const units = hasSocket ? ['docker.socket', 'docker'] : ['docker'];
  const stop: Argv = ['systemctl', 'stop', ...units];
  return { kind: 'systemd', name: 'systemd', start: ['systemctl', 'start', 'docker'], stop };
}

async function hasUnit(paths: Paths): Promise<boolean> {
  const found = await Promise.all(
    UNIT_FOLDERS.map((folder) => isThere(paths.onDevice(join(folder, 'docker.service')))),
  );
  return found.includes(true);
}

function argvOf([program = '', ...args]: readonly string[]): Argv {
  return [program, ...args];
}
