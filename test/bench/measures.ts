import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

// Node reads these certificates at each start, in 30 to 60 ms of processor: a bare server's start
// would look like three.
delete process.env['NODE_EXTRA_CA_CERTS'];

/** Resident memory of a process in MiB (proc(5)): now, or at its peak. */
export function residentMb(pid: number, which: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const [, kilobytes = '0'] =
    new RegExp(`${which}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kilobytes) / 1024;
}

/**
 * Processor seconds that a process has used, its own and the system's for it (proc(5), fields 14
 * and 15; 100 ticks a second).
 */
export function cpuSeconds(pid: number): number {
  const [own = NaN, system = NaN] = processorTicks(pid);
  return (own + system) / 100;
}

/** The same of its children that have ended (proc(5), fields 16 and 17). */
export function childCpuSeconds(pid: number): number {
  const [, , own = NaN, system = NaN] = processorTicks(pid);
  return (own + system) / 100;
}

function processorTicks(pid: number): number[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).map(Number);
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

export async function timed<Value>(
  work: () => Promise<Value>,
): Promise<{ value: Value; ms: number }> {
  const begin = performance.now();
  const value = await work();
  return { value, ms: performance.now() - begin };
}

export function report(name: string, figures: Record<string, number | string>): void {
  const text = Object.entries(figures).map(
    ([label, value]) => `${label} ${typeof value === 'number' ? Number(value.toFixed(3)) : value}`,
  );
  process.stdout.write(`${name.padEnd(24)} ${text.join('   ')}\n`);
}
