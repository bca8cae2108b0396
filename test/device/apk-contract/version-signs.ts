import { join } from 'node:path';
import { runCommand } from '../command.ts';

export type Pair = readonly [left: string, right: string];

/** What `apk version -t` prints of each. The real program is run for each pair, the stand-in's own comparison once for all. */
export async function signsOf(pairs: readonly Pair[]): Promise<string[]> {
  const real = process.env.APK;
  const { code, stdout, stderr } = await runCommand(
    real === undefined ? STAND_IN : ['/bin/sh', '-c', EACH, 'sh', real],
    { input: pairs.map(([left, right]) => `${left} ${right}\n`).join('') },
  );
  if (code !== 0) throw new Error(`cannot compare versions: ${stderr}`);
  return stdout.split('\n').slice(0, pairs.length);
}

const EACH = 'while read -r left right; do "$1" version -t "$left" "$right" || echo; done; true';

const STAND_IN: [string, ...string[]] = [
  'perl',
  `-I${join(import.meta.dirname, '..')}`,
  '-Mapk::version',
  '-ne',
  'my ($l, $r) = split; print +(!is_version($l) || !is_version($r)) ? "" : ("=", ">", "<")[compare_versions($l, $r)], "\\n"',
];
