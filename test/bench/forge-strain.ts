import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { startBareDaemon, type BareDaemon } from './bare-daemon.ts';
import { median, report, residentMb, timed } from './measures.ts';

/**
 * How fast the store half answers while the forge half has 500 callers that take nothing, and a
 * forge that stalls, resets, lies about lengths and sends 10 MB of headers. Rest and strain take
 * turns in one run; forge and callers are another process than the one that measures.
 *
 *     npm run build && node --import tsx test/bench/forge-strain.ts
 */
const ROUNDS = Number(process.env['TURNS'] ?? 5);
const SAMPLES = 300;
const SLOW_CALLERS = 500;
const STALLED_CALLERS = 50;
const MIB = 1024 ** 2;
const RAW = '/api/v1/repos/o/r/raw/';
const LARGE = Buffer.alloc(64 * MIB);
const INSTALLED = '/cgi-bin/panel/admin/store/installed';

if (process.send === undefined) await measure();
else await strain();

async function measure(): Promise<void> {
  const other = fork(import.meta.filename, { execArgv: ['--import', 'tsx'] });
  const [port] = (await once(other, 'message')) as [number];
  const daemon = await startBareDaemon(`http://127.0.0.1:${port}`);
  try {
    await compare(daemon, other);
  } finally {
    await daemon.close();
    other.kill();
  }
}

/** The other process: a forge, and callers who begin and end as they are told. */
async function strain(): Promise<void> {
  const forge = createServer(answer);
  forge.listen(0, '127.0.0.1');
  await once(forge, 'listening');
  process.send?.((forge.address() as AddressInfo).port);
  for (;;) {
    const [url] = (await once(process, 'message')) as [string];
    const end = await beginStrain(url);
    process.send?.('begun');
    await once(process, 'message');
    end();
    process.send?.('ended');
  }
}

/** Misbehaves as the path says. */
function answer(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.on('data', (piece) => {
    switch (/raw\/(\w+)/.exec(piece.toString('latin1'))?.[1]) {
      case 'large':
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${64 * MIB}\r\n\r\n`);
        socket.write(LARGE);
        return;
      case 'reset':
        socket.resetAndDestroy();
        return;
      case 'short':
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort');
        return;
      case 'long':
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nlonger than that');
        return;
      case 'headers':
        socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(10 * MIB)}\r\n\r\n`);
        return;
      default:
      // It stalls.
    }
  });
}

async function compare({ url, pid }: BareDaemon, other: ChildProcess): Promise<void> {
  const ask = async (text: string): Promise<void> => {
    other.send(text);
    await once(other, 'message');
  };
  const [rest, strained]: [number[], number[]] = [[], []];
  await samples(url);
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    rest.push(...(await samples(url)));
    await ask(url);
    strained.push(...(await samples(url)));
    report('under strain', { 'resident MB': residentMb(pid) });
    await ask('end');
  }
  const at = (values: number[], share: number): number =>
    values.toSorted((one, next) => one - next)[Math.floor(values.length * share)] ?? Number.NaN;
  report('installed, at rest', {
    'median ms': median(rest),
    'p90 ms': at(rest, 0.9),
    'p99 ms': at(rest, 0.99),
  });
  report('installed, under strain', {
    'median ms': median(strained),
    'p90 ms': at(strained, 0.9),
    'p99 ms': at(strained, 0.99),
    'ratio of medians': median(strained) / median(rest),
  });
}

/** Milliseconds of one `installed` after the other. */
async function samples(url: string): Promise<number[]> {
  const all: number[] = [];
  for (let count = 0; count < SAMPLES; count += 1) {
    all.push((await timed(async () => (await fetch(url + INSTALLED)).text())).ms);
  }
  return all;
}

/** @returns what ends it, when all callers that wait do so */
async function beginStrain(url: string): Promise<() => void> {
  const sockets = new Set<Socket>();
  const call = (kind: string): Socket => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    socket.write(`GET ${RAW}${kind} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    return socket;
  };
  const slow = Array.from({ length: SLOW_CALLERS }, () => call('large').pause());
  for (let count = 0; count < STALLED_CALLERS; count += 1) call('stall').resume();
  await Promise.all(slow.map((socket) => once(socket, 'readable')));
  const kinds = ['reset', 'short', 'long', 'headers'];
  let turn = 0;
  const storm = setInterval(() => call(kinds[(turn += 1) % kinds.length] ?? '').resume(), 20);
  return () => {
    clearInterval(storm);
    for (const socket of sockets) socket.destroy();
  };
}
