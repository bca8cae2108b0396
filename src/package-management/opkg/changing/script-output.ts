import { endOfScript, scriptOf } from '../../failure.ts';

/** How a maintainer script ended, and its last line. */
export function scriptReason(
  { name, script, status }: { name: string; script: string; status: string },
  lines: readonly string[],
): string {
  const ending = endingOf(status, lines);
  return endOfScript(scriptOf(name, script), ending, lastLineOf(name, lines));
}

/** opkg gives -1 to what a signal ended, as the kernel does where memory runs out. */
function endingOf(status: string, lines: readonly string[]): string {
  if (status !== '-1') return `exited with error ${status}`;
  const signals = lines.map((line) => /: Child killed by signal (\d+)\.$/.exec(line)?.[1]);
  return `killed by signal ${signals.findLast((signal) => signal !== undefined) ?? ''}`.trim();
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
