// Loaded into a daemon by --import: counts its changes to files and its starts of programs, and at
// the one that the control file names, ends it or lets its system calls fail for a while.
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const folder = process.env.DEPOTD_FAULT_FOLDER;
const control = `${folder}/control.json`;
const { writeFileSync, renameSync, rmSync, watch } = fs;
const original = { writeFileSync, renameSync, rmSync, watch };
const events = fs.openSync(`${folder}/events`, 'a');
const RealDate = Date;

/** `at` counts from when the plan was read; 0 is at once. */
let plan = { at: 0, fault: 'none', forMs: 0, filler: '' };
let count = 0;
let failing = '';
let clockOffsetMs = 0;
let hasNoWatches = false;

function report(event) {
  try {
    fs.writeSync(events, `${JSON.stringify(event)}\n`);
  } catch {
    // The disk of the control files is not the device's, so this does not happen in a try.
  }
}

function readPlan() {
  if (count > 0) report({ count });
  plan = JSON.parse(fs.readFileSync(control, 'utf8'));
  count = 0;
  report({ armed: plan.id, pid: process.pid });
  if (plan.at === 0 && plan.fault !== 'none') begin('at once', '');
}

function begin(name, path) {
  const { fault, forMs } = plan;
  plan = { ...plan, fault: 'none' };
  // A daemon that is started again at once does not begin with the same fault.
  original.writeFileSync(`${control}.fired`, JSON.stringify(plan));
  original.renameSync(`${control}.fired`, control);
  report({ fired: plan.id, fault, point: `${name} ${nameOf(path)}` });
  if (fault === 'kill') process.kill(process.pid, 'SIGKILL');
  else if (fault === 'term') process.kill(process.pid, 'SIGTERM');
  else if (fault === 'full') fillDisk();
  else if (fault === 'read-only') failing = 'EROFS';
  else if (fault === 'no watches') hasNoWatches = true;
  else if (fault === 'descriptors') openDescriptors();
  else if (fault === 'clock') clockOffsetMs = plan.clockOffsetMs;
  if (forMs > 0) setTimeout(end, forMs).unref();
}

/** Of a descriptor the file. */
function nameOf(path) {
  if (typeof path !== 'number') return String(path);
  try {
    return fs.readlinkSync(`/proc/self/fd/${path}`);
  } catch {
    return String(path);
  }
}

/** None is left beyond those that are open; whoever runs the try gives them back. */
function openDescriptors() {
  const open = fs.readdirSync('/proc/self/fd').length;
  childProcess.spawnSync('prlimit', ['--pid', String(process.pid), `--nofile=${open}:`]);
}

/** On a disk of its own it is filled; else its calls say that it is. */
function fillDisk() {
  if ((plan.filler ?? '') === '') {
    failing = 'ENOSPC';
    return;
  }
  // Page by page, until nothing is left.
  for (const bytes of [1024 ** 2, 4096]) {
    try {
      for (;;) original.writeFileSync(plan.filler, Buffer.alloc(bytes), { flag: 'a' });
    } catch {
      // It is full.
    }
  }
}

function end() {
  failing = '';
  hasNoWatches = false;
  clockOffsetMs = 0;
  if ((plan.filler ?? '') !== '') original.rmSync(plan.filler, { force: true });
  report({ healed: plan.id });
}

/** @returns the error that the call is to fail with, if it is */
function pass(name, path) {
  count += 1;
  if (plan.fault !== 'none' && count === plan.at) begin(name, path);
  if (failing === '') return undefined;
  return Object.assign(new Error(`${failing}: injected, ${name} '${String(path)}'`), {
    code: failing,
    syscall: name,
  });
}

const CHANGING = [
  'writeFile',
  'appendFile',
  'rename',
  'rm',
  'unlink',
  'mkdir',
  'copyFile',
  'truncate',
  'chmod',
  'symlink',
  'link',
  'utimes',
  'cp',
];
for (const name of CHANGING) {
  const call = fs.promises[name];
  fs.promises[name] = (...args) => {
    const error = pass(name, args[0]);
    return error === undefined ? call(...args) : Promise.reject(error);
  };
}

/** Opening to read changes nothing. */
function changes(flags) {
  return typeof flags === 'number' ? (flags & 3) !== 0 : /[wa+]/.test(String(flags ?? 'r'));
}
const { open } = fs.promises;
fs.promises.open = (path, flags, ...rest) => {
  const error = changes(flags) ? pass('open', path) : undefined;
  return error === undefined ? open(path, flags, ...rest) : Promise.reject(error);
};
const { openSync } = fs;
fs.openSync = (path, flags, ...rest) => {
  const error = changes(flags) ? pass('open', path) : undefined;
  if (error !== undefined) throw error;
  return openSync(path, flags, ...rest);
};

const handle = await open(control, 'r');
const handles = Object.getPrototypeOf(handle);
await handle.close();
for (const name of ['write', 'writeFile', 'appendFile', 'datasync', 'sync', 'truncate']) {
  const call = handles[name];
  handles[name] = function (...args) {
    const error = pass(name, this.fd);
    return error === undefined ? call.apply(this, args) : Promise.reject(error);
  };
}

// The journal's calls, by descriptor; the log's, to a pipe, change no file.
const BY_DESCRIPTOR = {
  write: 'write',
  fdatasync: 'datasync',
  fsync: 'sync',
  ftruncate: 'truncate',
};
for (const [called, name] of Object.entries(BY_DESCRIPTOR)) {
  replaceCallback(called, (descriptor) =>
    fs.fstatSync(descriptor).isFile() ? pass(name, descriptor) : undefined,
  );
}
replaceCallback('mkdir', (path) => pass('mkdir', path));
replaceCallback('open', (path, flags) => (changes(flags) ? pass('open', path) : undefined));

/** What util.promisify knows of a function it knows of what stands for it. */
function replaceCallback(called, faultOf) {
  const call = fs[called];
  fs[called] = (...args) => {
    const error = faultOf(...args);
    if (error === undefined) call(...args);
    else process.nextTick(args.at(-1), error);
  };
  for (const symbol of Object.getOwnPropertySymbols(call)) {
    Object.defineProperty(fs[called], symbol, Object.getOwnPropertyDescriptor(call, symbol));
  }
}

const { spawn } = childProcess;
childProcess.spawn = (program, ...rest) => {
  if (plan.fault !== 'descriptors') {
    pass('spawn', program);
    return spawn(program, ...rest);
  }
  // The daemon has looked for descriptors in the same turn: they go behind it.
  const child = spawn(program, ...rest);
  pass('spawn', program);
  return child;
};
fs.watch = (path, ...rest) => {
  if (!hasNoWatches) return original.watch(path, ...rest);
  throw Object.assign(new Error(`ENOSPC: injected, watch '${String(path)}'`), { code: 'ENOSPC' });
};
syncBuiltinESMExports();

/** The kernel's clock knows no time before 1970 (clock_settime(2)). */
function timeOfDay() {
  return Math.max(0, RealDate.now() + clockOffsetMs);
}

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(timeOfDay());
    else super(...args);
  }
  static now() {
    return timeOfDay();
  }
};

process.on('SIGUSR2', () => {
  end();
  readPlan();
});
process.on('exit', () => report({ count }));
readPlan();
