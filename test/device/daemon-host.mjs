// `node daemon-host.mjs START`: runs one daemon after the other, each as START does it. What V8 has
// compiled and Node has loaded stays, nothing else: each has its modules, its settings and its
// environment for itself. To start a process for each takes ten times the processor.
import processes from 'node:child_process';
import crypto from 'node:crypto';
import diagnostics from 'node:diagnostics_channel';
import fs from 'node:fs';
import files from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';

const [, , START] = process.argv;
const BUILT = `${dirname(START)}/`;
/** What is still open when a daemon has stopped is closed soon, or the process ends. */
const CLOSE_LIMIT_MS = 100;
const EVENTS = [
  'SIGTERM',
  'SIGINT',
  'SIGHUP',
  'SIGUSR1',
  'uncaughtException',
  'unhandledRejection',
  'exit',
];
/** Light stand-ins take the place of these (src/runtime/light-fetch.ts). */
const CLASSES = ['Headers', 'Request', 'Response', 'CloseEvent', 'ErrorEvent'];

/** What saves memory costs processor, and here is nobody who measures it. */
v8.setFlagsFromString = () => undefined;
const { runInNewContext } = vm;
vm.runInNewContext = (code, ...args) =>
  code === 'gc' ? () => undefined : runInNewContext(code, ...args);

/** What a daemon leaves to the end of its process. */
const timers = new Set();
const subscriptions = [];
const handles = new Set();
const watchers = new Set();
const children = new Set();

for (const name of ['setTimeout', 'setInterval']) {
  const set = globalThis[name];
  globalThis[name] = Object.assign((...args) => noted(timers, set(...args)), set);
}

function noted(all, one) {
  all.add(one);
  one.once?.('close', () => all.delete(one));
  return one;
}

/** A thousandth of the work on a hash that the daemon makes, and knows again: it takes 0.2 s. */
const scrypt = (...[text, salt, length, { cost, ...options }, done]) =>
  crypto.scrypt(text, salt, length, { ...options, cost: cost === 2 ** 14 ? 16 : cost }, done);

const NODE_MODULES = {
  child_process: {
    ...processes,
    spawn: (...args) => noted(children, processes.spawn(...args)),
  },
  crypto: Object.assign(Object.create(crypto), { scrypt }),
  diagnostics_channel: {
    ...diagnostics,
    subscribe: (name, listener) => {
      subscriptions.push([name, listener]);
      diagnostics.subscribe(name, listener);
    },
  },
  vm: { ...vm, compileFunction: (...args) => compileOnce(...args) },
  fs: { ...fs, watch: (...args) => noted(watchers, fs.watch(...args)) },
  'fs/promises': {
    ...files,
    open: async (...args) => noted(handles, await files.open(...args)),
  },
};

const { runInThisContext } = vm.Script.prototype;
const compiled = new Map();

/** What a daemon compiles when it first asks for it is run anew for the next one, not compiled. */
function compileOnce(text, names, options) {
  let script = compiled.get(text);
  if (script === undefined) {
    script = new vm.Script(`(function(${names.join()}){${text}\n})`, options);
    compiled.set(text, script);
  }
  return runInThisContext.call(script);
}

let run;
let atFirst;
vm.Script.prototype.runInThisContext = function (...args) {
  const code = runInThisContext.apply(this, args);
  return (exported, load, ...more) => {
    const loadNoted = (name) => NODE_MODULES[name] ?? NODE_MODULES[name.slice(5)] ?? load(name);
    run = (ownExports) => code(ownExports, loadNoted, ...more);
    run(exported);
  };
};

function start({ args, env }) {
  process.argv = [process.execPath, START, ...args];
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  if (run === undefined) {
    atFirst = open();
    createRequire(import.meta.url)(START);
    return;
  }
  const exported = {};
  run(exported);
  void exported.main(() => undefined, true);
}

const { exit } = process;
const listeners = EVENTS.map((event) => [event, process.listeners(event)]);
const classes = CLASSES.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);

function stop() {
  process.exit = (code) => {
    process.exit = exit;
    if (code !== 0) exit(code);
    void clean();
  };
  process.emit('SIGTERM', 'SIGTERM');
}

async function clean() {
  // A job that goes on would tell the daemon of its end.
  if (children.size > 0) exit(0);
  for (const timer of timers) clearTimeout(timer);
  timers.clear();
  for (const watcher of watchers) watcher.close();
  for (const [name, listener] of subscriptions.splice(0)) diagnostics.unsubscribe(name, listener);
  for (const [event, own] of listeners) {
    process.removeAllListeners(event);
    for (const listener of own) process.on(event, listener);
  }
  await closeFiles();
  for (const [name, descriptor] of classes) {
    delete globalThis[name];
    if (descriptor !== undefined) Object.defineProperty(globalThis, name, descriptor);
  }
  const since = performance.now();
  while (!isClean()) {
    if (performance.now() - since > CLOSE_LIMIT_MS) exit(0);
    await delay(2, undefined, { ref: false });
  }
  process.stderr.write('{"event":"process free"}\n');
}

async function closeFiles() {
  await Promise.all([...handles].map((handle) => handle.close().catch(() => undefined)));
  for (const [fd, path] of openFiles()) {
    // Who holds the lock on a state folder has ended, to the next daemon there.
    if (path.endsWith('/daemon.lock')) fs.rmSync(path.replace(/lock$/, 'json'), { force: true });
    fs.closeSync(fd);
  }
}

function isClean() {
  return open().join() === atFirst.join();
}

function open() {
  // They are open from their first use on.
  void [process.stdout, process.stderr];
  return process
    .getActiveResourcesInfo()
    .filter((name) => name !== 'CloseReq')
    .sort();
}

/** Descriptors of files, with their paths; but for that of the code, which stays. */
function openFiles() {
  return fs
    .readdirSync('/proc/self/fd')
    .map((fd) => [Number(fd), pathOf(fd)])
    .filter(([fd, path]) => fd > 2 && /^\/(?!dev\/)/.test(path) && !path.startsWith(BUILT));
}

function pathOf(fd) {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    // The one by which they were listed.
    return '';
  }
}

process.on('message', (message) => (message === 'stop' ? stop() : start(message)));
process.on('disconnect', () => exit(0));
