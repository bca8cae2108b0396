import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { planOf, type FleetStatus } from '../features/fleet/fleet-device.ts';
import { createStandIn, type StandIn } from '../features/fleet/stand-in.ts';
import { installedDaemon, MANAGER, type PowerDaemon } from './device.ts';
import {
  BEFORE,
  boot,
  DAEMON_SETTINGS,
  flash,
  isThere,
  look,
  OWNED,
  prepareOwner,
  restoreOf,
  save,
  SAVED,
  shell,
  startServices,
  textOf,
  until,
  writeFirmware,
} from './firmware.ts';
import type { Kind } from './kinds.ts';
import { DISK, ROOT } from './locations.ts';

const ID = 'power-device';
const PORT = 7997;
const TOKEN = '/etc/depotd/fleet-token';
const [OLD, NEW] = ['24.10.2', '25.12.9'];
const IMAGE = Buffer.from(`image of ${NEW}\n`.padEnd(512 * 1024, 'x'));

/** On the disk, and no part of the device: what the server knows, how often it was flashed. */
const SERVER = join(DISK, 'server');
const FLASHED = join(DISK, 'flashed');
/** What is being flashed, with what is kept: a boot goes on with it. */
const FLASHING = join(DISK, 'flashing.tgz');

const FLEET_SETTINGS = `
config depotd 'fleet'
\toption server 'http://127.0.0.1:${PORT}'
\toption controller_id '${ID}'
\toption token_file '${ROOT}${TOKEN}'
\tlist allow 'firmware'
`;

/**
 * OpenWrt's, as far as somebody sees it: it judges, writes down in memory what is kept, and returns;
 * behind it all processes are told to end, and 4 s later ended (stage2's `kill_remaining`). The flash
 * is one moment, since what a half written one does is the boot loader's. The machine boots again.
 */
const SYSUPGRADE = `#!/bin/sh
for image; do :; done
grep -q '^image of ${NEW}$' "$image" || { echo 'Image metadata not present'; exit 74; }
[ "$1" != -T ] || exit 0
${save('/tmp/sysupgrade.tgz')}
cat >/tmp/stage2 <<'EOF'
remaining() {
	for each in /proc/[0-9]*; do
		pid=\${each#/proc/}
		name=$(tr '\\0' ' ' <"$each/cmdline") 2>/dev/null
		case "$pid $name" in "1 "* | "$$ "* | *guest.mjs*) ;; *) kill "-$1" "$pid" 2>/dev/null ;; esac
	done
}
sleep 1
remaining TERM
sleep 4
remaining KILL
echo flashed >>${FLASHED}
mv /tmp/sysupgrade.tgz ${FLASHING}.new
sync
mv ${FLASHING}.new ${FLASHING}
sync
echo b >/proc/sysrq-trigger
EOF
env -u DEPOTD_JOB setsid sh /tmp/stage2 </dev/null >/dev/null 2>&1 &
`;

let server: StandIn | undefined;

const release = async (): Promise<string | undefined> =>
  /DISTRIB_RELEASE='(.*)'/.exec(await textOf(join(ROOT, 'etc/openwrt_release')))?.[1];

async function prepared(): Promise<void> {
  await prepareOwner(false);
  await writeFile(join(DISK, 'bin/sysupgrade'), SYSUPGRADE);
  await chmod(join(DISK, 'bin/sysupgrade'), 0o755);
  await serve();
  if (server === undefined) throw new Error('no fleet server');
  await writeFile(join(ROOT, TOKEN), await server.addTarget(ID), { mode: 0o600 });
  const settings = join(ROOT, DAEMON_SETTINGS);
  await writeFile(settings, `${await textOf(settings)}${FLEET_SETTINGS}`);
  const files = { 'openwrt-sysupgrade.bin': IMAGE };
  const plan = planOf({ version: 1, firmware: { version: NEW } });
  await server.assign(await server.publish([{ files, ...plan }]), ID);
}

async function serve(): Promise<void> {
  server = await createStandIn({ port: PORT, file: SERVER });
}

/** The first of all actions, by the stand-in's counting: the set has an id, too. */
const ACTION = '2';

/** Whichever system is there, until the server was told of an end. */
async function bootToEnd(): Promise<PowerDaemon> {
  if (await isThere(FLASHING)) {
    await flash(MANAGER);
    await shell(`sync; mv ${FLASHING} ${SAVED}; sync`);
  }
  const isNew = (await release()) === NEW;
  if (!isNew) await startServices();
  const daemon = isNew ? await boot(true) : await installedDaemon();
  let status: FleetStatus | undefined;
  await until(async () => {
    const answer = await daemon.post('admin/fleet/poll').catch(() => undefined);
    status = (await answer?.json().catch(() => undefined)) as FleetStatus | undefined;
    return (await server?.action(ID, ACTION))?.isActive === false;
  }, 'the server was told of an end').catch((error: unknown) => {
    throw new Error(`${String(error)}; the fleet: ${JSON.stringify(status)}`);
  });
  return daemon;
}

async function lookAtEnd(daemon: PowerDaemon): Promise<string[]> {
  const isNew = (await release()) === NEW;
  for (let polls = 0; polls < 2; polls += 1) await daemon.post('admin/fleet/poll');
  const { status, messages } = (await server?.action(ID, ACTION)) ?? {};
  const flashed = (await textOf(FLASHED)).split('\n').length - 1;
  return [
    ...(await look(daemon, !isNew)),
    ...(status === (isNew ? 'finished' : 'error')
      ? []
      : [`${String(await release())} runs, told ${String(status)}: ${JSON.stringify(messages)}`]),
    ...(flashed <= 1 ? [] : [`it was flashed ${flashed} times`]),
  ];
}

/** A firmware that a rollout brings: what is cut is the download, the flash, and what follows. */
export const FIRMWARE_BY_ROLLOUT: Kind = {
  before: BEFORE,
  start: (phase) => (phase === 'prepare' ? writeFirmware(OLD) : serve()),
  prepared,
  boot: bootToEnd,
  lastsMs: 60_000,
  feed: 1,
  job: async (daemon) => (await restoreOf(daemon))?.id ?? '',
  ...OWNED,
  look: lookAtEnd,
};
