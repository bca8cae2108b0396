import { join } from 'node:path';

import { startCommand } from './command.ts';
import type { Device } from './device.ts';

/** Somebody else who holds opkg's lock, as another opkg would. */
export interface LockHolder {
  readonly pid: number;
  readonly release: () => Promise<void>;
}

const HOLD = `
use opkg::lock;
$| = 1;
my $lock;
until ($lock and (stat $lock->{file})[1] == ((stat $ARGV[0])[1] // 0)) {
  $lock = take_lock($ARGV[0]);
  exit 1 unless $lock or $ARGV[1];
  select undef, undef, undef, 0.002 if $ARGV[1];
}
$SIG{TERM} = sub { release_lock($lock); exit 0 };
print "held\\n";
sleep 1 while 1;
`;

/**
 * Settles when the lock is held; fails where somebody else has it.
 * @param isBehindOpkg waits for the opkg that has it
 */
export async function startLockHolder(
  device: Device,
  { isBehindOpkg = false } = {},
): Promise<LockHolder> {
  const holder = startCommand([
    'perl',
    `-I${import.meta.dirname}`,
    '-e',
    HOLD,
    join(device.root, 'var/lock/opkg.lock'),
    isBehindOpkg ? '1' : '',
  ]);
  await holder.printed('held');
  return {
    pid: holder.pid,
    release: async () => {
      holder.signal('SIGTERM');
      await holder.outcome;
    },
  };
}
