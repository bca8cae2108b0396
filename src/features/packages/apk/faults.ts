import type { PackageDatabase } from '../package-database.ts';
import type { PlannedChange } from './planning/simulation.ts';

/**
 * What apk said of a package that came and is marked broken, as a sentence; undefined if none is. A
 * removal never leaves one: apk removes the package whatever its scripts say.
 */
export function brokenSentence(
  purpose: string,
  changes: readonly PlannedChange[],
  {
    before,
    after,
    output,
  }: { before: PackageDatabase | undefined; after: PackageDatabase; output: string },
): string | undefined {
  const broken = changes.find(
    ({ name, to }) =>
      after.get(name)?.state === 'unpacked' &&
      after.get(name)?.version === to &&
      (before?.get(name)?.state !== 'unpacked' || before.get(name)?.version !== to),
  );
  if (broken === undefined) return undefined;
  const { name, to = '' } = broken;
  const reason = reasonFor(`${name}-${to}`, output) ?? `${name} is not fully installed`;
  return `cannot ${purpose}: ${reason}`;
}

/** Behind it stands how the script ended. */
const SCRIPT_FAULT = /^ERROR: lib\/apk\/exec\/(\S+): ((?:exited with|killed by|stopped by) .+)$/;

function reasonFor(build: string, output: string): string | undefined {
  const lines = output.split(/\r?\n/).map((line) => line.trim());
  for (const line of lines) {
    const [, script, ending = ''] = SCRIPT_FAULT.exec(line) ?? [];
    if (script?.startsWith(`${build}.`) === true) {
      return `the ${script.slice(build.length + 1)} script of ${build} ${ending}`;
    }
    if (line.startsWith(`ERROR: ${build}: `)) return line.slice('ERROR: '.length);
  }
  return undefined;
}
