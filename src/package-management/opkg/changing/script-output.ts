import { endOfScript, scriptOf } from '../../failure.ts';

/** How a maintainer script ended, and its last line. */
export function scriptReason(
  { name, script, status }: { name: string; script: string; status: string },
  lines: readonly string[],
): string {
  const program = scriptOf(name, script);
  if (status !== '-1') {
    return endOfScript(program, `exited with error ${status}`, lastLineOf(name, lines));
  }
  // What a signal ended, as the kernel does where memory runs out; or it could not be begun.
  const end = lines.findIndex((line) =>
    line.endsWith(`"${name}" ${script} script returned status -1.`),
  );
  const [, signal] = /: Child killed by signal (\d+)\.$/.exec(lines[end - 1] ?? '') ?? [];
  if (signal === undefined) return `${program} was not run: opkg could not begin it`;
  return endOfScript(program, `killed by signal ${signal}`, lastLineOf(name, lines));
}

/** What opkg prints itself before the script of a package runs, or beside it. */
const HEADINGS = [
  /^Configuring (\S+?)\.$/,
  /^(?:Installing|Upgrading|Downgrading) (\S+) (?:\(|on )/,
  /^Removing package (\S+) from /,
];
const OWN = [
  /^(?:Downloading |Collected errors:| \* )/,
  /^(?:You can force removal | *--force-remove|No packages removed)/,
  /^Package \S+ (?:version \S+ has|\(\S+\) installed)/,
];

/**
 * The last line that a package's script printed. Without a terminal opkg's own lines come at its
 * end, behind those of all scripts.
 */
function lastLineOf(name: string, lines: readonly string[]): string | undefined {
  const isHeading = (line: string): boolean => HEADINGS.some((heading) => heading.test(line));
  const start = lines.findLastIndex((line) =>
    HEADINGS.some((heading) => heading.exec(line)?.[1] === name),
  );
  const printed = (part: readonly string[]): string | undefined => {
    const ended = part.findIndex((line) => line.endsWith('Collected errors:') || isHeading(line));
    const isOwn = (line: string): boolean => OWN.some((pattern) => pattern.test(line));
    const own = (ended < 0 ? part : part.slice(0, ended)).filter((line) => !isOwn(line));
    return own.findLast((line) => /[\p{L}\p{N}]/u.test(line));
  };
  return (start < 0 ? undefined : printed(lines.slice(start + 1))) ?? printed(lines);
}
