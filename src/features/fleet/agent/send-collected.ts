import { readFile } from 'node:fs/promises';
import { loadavg, freemem } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../../../device/exec.ts';
import { reasonOf } from '../../../errors.ts';
import type { Job } from '../../../jobs/job.ts';
import type { DdiClient } from '../ddi/ddi-client.ts';
import type { FleetSettings } from '../options.ts';
import type { ActionRecord } from '../records/action-record.ts';
import type { Collected } from '../rollout/work.ts';
import { configData } from './device-attributes.ts';
import { noticesOf, type Fleet } from './fleet.ts';

/** Most lines of a feedback, with its heading: hawkBit takes 50. */
const PIECE_LINES = 40;
const MOST_LOG_LINES = 200;
const MOST_LOG_BYTES = 256 * 1024;
const MOST_JOBS = 30;
const MOST_LINES = 250;
const LOG_MS = 5000;
const CHECKS_MS = 3000;

/**
 * Sends what a plan's `collect` asks for, ahead of the end of its action, however that ended. What
 * was taken is not sent again while the daemon runs; what the server will never take is left out.
 * @returns whether the end may follow
 */
export async function sendCollected(
  fleet: Fleet,
  client: DdiClient,
  record: ActionRecord,
): Promise<boolean> {
  const wanted = new Set(record.work?.collect);
  const isOver = ['success', 'failure'].includes(record.end?.result ?? '');
  if (wanted.size === 0 || !isOver || !fleet.settings().allow.includes('collect')) return true;
  const notices = noticesOf(fleet.known, record);
  if (notices.pieces === undefined) {
    const pieces: string[][] = [];
    for (const what of wanted) pieces.push(...piecesOf(what, await linesOf(fleet, what)));
    notices.pieces = pieces;
  }
  for (let piece = notices.pieces[0]; piece !== undefined; piece = notices.pieces[0]) {
    const feedback = { execution: 'proceeding', details: piece } as const;
    const reception = await client.report(record.actionId, feedback);
    if (reception === 'later') return false;
    if (['ended', 'unknown', 'quota'].includes(reception)) notices.pieces = [];
    else notices.pieces.shift();
  }
  return true;
}

function piecesOf(what: Collected, lines: readonly string[]): string[][] {
  const count = Math.max(1, Math.ceil(lines.length / PIECE_LINES));
  return Array.from({ length: count }, (_, index) => [
    `${what} ${index + 1}/${count}`,
    ...lines.slice(index * PIECE_LINES, (index + 1) * PIECE_LINES),
  ]);
}

async function linesOf(fleet: Fleet, what: Collected): Promise<string[]> {
  try {
    const lines = (await SOURCES[what](fleet)).filter((line) => line.trim() !== '');
    return (await withoutSecrets(fleet.settings(), lines)).slice(-MOST_LINES);
  } catch (error) {
    return [`cannot be had: ${reasonOf(error)}`];
  }
}

const SOURCES: Record<Collected, (fleet: Fleet) => Promise<string[]>> = {
  log: async ({ scriptEnvironment }) => {
    const { exitCode, stdout, stderr } = await run(
      { argv: ['logread', '-l', String(MOST_LOG_LINES)], environment: scriptEnvironment },
      { timeoutMs: LOG_MS, maxBytes: MOST_LOG_BYTES },
    );
    if (exitCode !== 0) throw new Error(`logread: ${stderr.trim()}`);
    return stdout.split('\n').slice(-MOST_LOG_LINES);
  },
  doctor: async ({ checks }) => {
    const isOver = delay(CHECKS_MS, undefined, { ref: false }).then((): never => {
      throw new Error('no answer');
    });
    isOver.catch(() => undefined);
    const found = (await checks()).map(async ({ id, run: look }) => {
      const finding = await Promise.race([look(), isOver]).catch((error: unknown) => ({
        state: 'warning',
        message: reasonOf(error),
      }));
      return `${finding.state} ${id}: ${finding.message}`;
    });
    return Promise.all(found);
  },
  jobs: ({ queue }) => Promise.resolve(queue.all().slice(-MOST_JOBS).map(lineOf)),
  status: async (fleet) => {
    const { failures, lastError } = fleet.known;
    const load = loadavg().map((value) => value.toFixed(2));
    return [
      ...Object.entries(await configData(fleet, '')).map(([key, value]) => `${key}=${value}`),
      `load=${load.join(' ')}`,
      `free_memory_mb=${Math.floor(freemem() / 1024 ** 2)}`,
      `poll_failures=${failures}`,
      ...(lastError === undefined ? [] : [`last_error=${lastError}`]),
    ];
  },
};

function lineOf({ id, kind, subject, state, createdAt, stepLabel, errorCode, error }: Job): string {
  const time = new Date(createdAt * 1000).toISOString().slice(0, 19);
  const step = stepLabel === undefined ? '' : ` at ${stepLabel}`;
  const failure = errorCode === undefined ? '' : ` ${errorCode}: ${error ?? ''}`;
  return `${time} ${state} ${kind} ${subject}, task ${id.slice(0, 8)}${step}${failure}`;
}

const HIDDEN = '***';
const MOST_CHARACTERS = 1000;
const SECRET_NAMES = 'passw(?:or)?d|passphrase|pwd|token|secret|psk|credential|api_?key|key|pin';

/** What a secret stands behind, or looks like. It cannot know all of them: rather too much goes. */
const PATTERNS: readonly [RegExp, string][] = [
  [/\b((?:set-)?cookie|(?:proxy-)?authorization)\b["']?\s*[:=].*/gi, `$1: ${HIDDEN}`],
  [/\b(TargetToken|GatewayToken|Bearer|Basic)\s+\S+/gi, `$1 ${HIDDEN}`],
  [/\/\/[^\s/@]+@/g, `//${HIDDEN}@`],
  [
    new RegExp(`((?:${SECRET_NAMES})\\w{0,32}["']?\\s*[:=]\\s*)("[^"]*"|'[^']*'|[^\\s,;&]+)`, 'gi'),
    `$1${HIDDEN}`,
  ],
  [
    new RegExp(`((?:${SECRET_NAMES})\\w{0,32}\\s+(?:is\\s+)?)("[^"]*"|'[^']*')`, 'gi'),
    `$1${HIDDEN}`,
  ],
  [/\b(passw(?:or)?d|passphrase|psk|secret)(\s+)[^\s*]\S*/gi, `$1$2${HIDDEN}`],
  [/-----BEGIN.*/g, HIDDEN],
  [/(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])[\w+/=-]{40,}/g, HIDDEN],
  // Keys and tokens by their look: long, with digits among letters.
  [/(?<![\w+/=-])(?=[\w+=-]*\d)(?=[\w+=-]*[a-zA-Z])[\w+=-]{24,}/g, HIDDEN],
];

/** The lines without what opens a door; each of 1000 characters at most. */
async function withoutSecrets(
  { token_file: tokenFile }: Pick<FleetSettings, 'token_file'>,
  lines: readonly string[],
): Promise<string[]> {
  const text = await readFile(tokenFile, 'utf8').catch(() => '');
  const own = text.split(/\s+/).filter((word) => word.length >= 6 && !/^\w+Token$/.test(word));
  return lines.map((line) => {
    const plain = own.reduce((rest, word) => rest.replaceAll(word, HIDDEN), line);
    return PATTERNS.reduce(
      (rest, [pattern, replacement]) => rest.replace(pattern, replacement),
      plain.slice(0, MOST_CHARACTERS),
    );
  });
}
