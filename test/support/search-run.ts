import { closeSync, openSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** The bounds of a search, as its command line has them. */
export interface SearchOptions {
  tries: number;
  minutes: number;
  seed: number;
  /** A file for one JSON line a try or finding. */
  out: string | undefined;
  /** Any other `--name value`. */
  further: Readonly<Record<string, string | undefined>>;
}

export interface SearchDefaults {
  tries: number;
  minutes: number;
  /** Names of further options that the command knows. */
  further?: readonly string[];
}

/** @throws an Error that names the option that cannot be used */
export function readSearchOptions(
  argv: readonly string[],
  { tries, minutes, further = [] }: SearchDefaults,
): SearchOptions {
  const names = ['tries', 'minutes', 'seed', 'out', ...further];
  if (argv.includes('--help')) {
    console.log(names.map((name) => `--${name} VALUE`).join(' '));
    console.log(`without them: ${tries} tries, ${minutes} minutes, a new seed`);
    process.exit(0);
  }
  const { values } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
  });
  const number = (name: string, fallback: number): number => {
    const text = values[name];
    const value = text === undefined ? fallback : Number(text);
    if (!(value >= 0)) {
      throw new Error(`cannot use --${name} ${String(text)}: a number is expected`);
    }
    return value;
  };
  return {
    tries: number('tries', tries),
    minutes: number('minutes', minutes),
    seed: number('seed', Date.now() % 1_000_000_000),
    out: values.out,
    further: Object.fromEntries(further.map((name) => [name, values[name]])),
  };
}

/** Counts tries, writes what each gave, and ends with one line that says how it went. */
export interface SearchReport {
  readonly tries: number;
  readonly findings: number;
  /** Adds tries, and writes the fields as one JSON line when there are any. */
  readonly add: (tries: number, fields?: object) => void;
  /** A promise of the program that did not hold: printed at once. */
  readonly finding: (fields: object) => void;
  /** Whether the bounds allow another try. */
  readonly goesOn: () => boolean;
  /** Prints the last line. @returns the exit code: 1 when something was found */
  readonly end: (note?: string) => number;
}

const MOST_PRINTED = 20;
/** The whole of it is in the file. */
const MOST_PRINTED_LENGTH = 2000;

export function createSearchReport(
  name: string,
  { tries: most, minutes, seed, out }: SearchOptions,
): SearchReport {
  const startedAt = performance.now();
  const file = out === undefined ? undefined : openSync(out, 'w');
  const write = (fields: object): void => {
    if (file !== undefined) writeSync(file, `${JSON.stringify(fields)}\n`);
  };
  const minutesSoFar = (): number => (performance.now() - startedAt) / 60_000;
  let tries = 0;
  let findings = 0;
  return {
    get tries() {
      return tries;
    },
    get findings() {
      return findings;
    },
    add: (count, fields) => {
      tries += count;
      if (fields !== undefined) write(fields);
    },
    finding: (fields) => {
      findings += 1;
      write({ finding: fields });
      if (findings <= MOST_PRINTED) {
        console.log(`finding: ${JSON.stringify(fields).slice(0, MOST_PRINTED_LENGTH)}`);
      }
    },
    goesOn: () => tries < most && minutesSoFar() < minutes,
    end: (note = '') => {
      const spent = minutesSoFar().toFixed(1);
      write({ name, tries, findings, seed, minutes: Number(spent) });
      if (file !== undefined) closeSync(file);
      console.log(
        `${name}: ${tries} tries, ${findings} findings, seed ${seed}, ${spent} minutes${note}`,
      );
      return findings === 0 ? 0 : 1;
    },
  };
}
