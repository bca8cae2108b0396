import { sizeText } from '../../../format-bytes.ts';
import {
  downloadFault,
  firstMatch,
  linePattern,
  plainLines,
  quoted,
  unmetDependency,
  type Complaint,
  type FailedCommand,
  type Failure,
} from '../../failure.ts';
import { ADVICE } from '../../problem.ts';
import { scriptReason } from './script-output.ts';

/**
 * What opkg said of a failure. It collects its errors and prints them in one block at its end
 * (docs/reference/opkg.md), so that what maintainer scripts print before that is no statement of
 * opkg's; lines of its standard output count only for the packages that are concerned. The worst
 * that a script can bring about is a wrong sentence.
 * @returns undefined if opkg said nothing
 */
export function explain({ output, names }: FailedCommand): Failure | undefined {
  const lines = plainLines(output);
  const { errors, said } = parseOutput(lines);
  const known = firstMatch(errors, ERRORS, { lines, names });
  if (known !== undefined && known.code !== 'script_failed') return known;
  const statement = firstMatch(said, STATEMENTS, { lines, names });
  if (known !== undefined || statement !== undefined) return known ?? statement;
  const last = errors.split('\n').findLast((line) => line !== '' && !GENERIC.test(line));
  const words = last ?? errors.split('\n').at(-1);
  return words === undefined || words === ''
    ? undefined
    : { code: 'unknown', reason: `opkg says ${quoted(words.replace(FUNCTION, ''))}` };
}

/**
 * The errors that opkg collected, one a line, without its mark, and everything else that was said.
 * The last block counts: an opkg that a script calls prints one, too. A script that leaves its line
 * open has the block begin behind it.
 */
function parseOutput(lines: readonly string[]): { errors: string; said: string } {
  const start = lines.findLastIndex((line) => line.endsWith('Collected errors:'));
  if (start < 0) return { errors: '', said: lines.join('\n') };
  const errors: string[] = [];
  let end = start + 1;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? '';
    if (line.startsWith(' * ')) errors.push(line.slice(3));
    else if (line.startsWith(' ') && errors.length > 0) errors.push(`${errors.pop()}${line}`);
    // After some messages opkg leaves a line empty.
    else if (line !== '') break;
  }
  const rest = [...lines.slice(0, start), ...lines.slice(end)];
  return { errors: errors.join('\n'), said: rest.join('\n') };
}

/** Which of its functions says it. */
const FUNCTION = /^\w+: /;

/** What opkg says of every package that it did not install. */
const GENERIC = /^opkg_install_cmd: Cannot install package /;

/** The errors that opkg collects, the most telling first. */
const ERRORS: readonly Complaint[] = [
  {
    code: 'locked',
    expression: /^opkg_conf_load: Could not lock (\S+): /gm,
    reason: (file) => `another program holds ${file}`,
  },
  {
    expression: /^\w+: Only have (\d+)kb available on filesystem (\S+), pkg (\S+) needs (-?\d+)$/gm,
    failure: ([free, folder, name, needed = '']) => ({
      code: 'no_space',
      package: name ?? '',
      reason:
        `${sizeText(Number(free) * 1024)} are free on ${folder}, ` +
        `${name} needs ${sizeText(bytesOf(needed))}`,
    }),
  },
  {
    code: 'no_space',
    expression: /^(\w+: .*No space left on device)\.?$/gm,
    reason: (line) => `the disk is full: opkg says ${quoted(line)}`,
  },
  {
    expression: /^\w+: cannot find dependency (.+) for (\S+)$/gm,
    failure: ([needed = '', name = ''], { lines }) =>
      foreignOne(needed, lines) ?? unmetDependency(name, needed),
  },
  {
    expression: /^\w+: Packages for (\S+) found, but incompatible with the architectures/gm,
    failure: ([name = '']) => wrongArchitecture(name),
  },
  {
    code: 'file_conflict',
    expression: linePattern(
      String.raw`\w+: Package (?<name>\S+) wants to install file (\S+) +`,
      String.raw`But that file is already provided by package +(?:\* )?(\S+)`,
    ),
    reason: (name, file, owner) =>
      `${name} would replace ${file}, ` +
      (owner === '<no' ? 'which no package owns' : `which belongs to ${owner}`),
  },
  {
    code: 'dependency_conflict',
    expression:
      /^\w+: The following packages conflict with (?<name>\S+):((?:\n\w+: {2}\S+[ *]*(?=\n|$))+)/gm,
    reason: (name, others) => `${name} conflicts with ${namesBehindTabs(others)}`,
  },
  {
    code: 'checksum',
    expression: /^\w+: Checksum or size mismatch for package (?<name>\S+)\. /gm,
    reason: (name) =>
      `what was downloaded of ${name} is not what the list of the feed says: ` +
      'its checksum or size differs',
  },
  {
    code: 'signature',
    expression:
      /^\w+: (?:Failed to verify the signature of|Signature file is missing for) (\S+?)\.(?: |$)/gm,
    reason: (what) => `the signature of ${what} is wrong or missing`,
  },
  {
    expression: /^\w+: Failed to download (\S+), wget returned (\d+)\.$/gm,
    failure: ([url = '', code = '']) => notDownloaded(url, code),
  },
  {
    expression: /^\w+: Package (\S+) is not available from any configured src\.$/gm,
    failure: ([name = '']) => notOffered(name),
  },
  {
    code: 'damaged_package',
    expression: linePattern(
      String.raw`\w+: (?:Malformed package file|Failed to unpack control files from|`,
      String.raw`Failed to extract control file from) (\S+?)\.$`,
    ),
    reason: (file) => `${file.split('/').at(-1) ?? file} is no package that opkg can read`,
  },
  {
    code: 'damaged_package',
    expression: /^\w+: Failed to extract (?:data files|maintainer scripts) for (?<name>\S+?)\. /gm,
    reason: (name) => `the files of ${name} could not be unpacked`,
  },
  {
    expression: /^\w+: package "(\S+)" (\S+) script returned status (-?\d+)\.$/gm,
    failure: ([name = '', script = '', status = ''], { lines }) => ({
      code: 'script_failed',
      package: name,
      reason: scriptReason({ name, script, status }, lines),
    }),
  },
  {
    code: 'needed_by',
    expression:
      /^\w+: Package (?<name>\S+) is depended upon by packages:((?:\n\w+: {2}\S+(?=\n|$))+)/gm,
    reason: (name, others) => `${name} is needed by ${namesBehindTabs(others)}`,
  },
];

/** On standard output, where maintainer scripts print, too: of packages that are concerned. */
const STATEMENTS: readonly Complaint[] = [
  stated(/^Refusing to remove essential package (\S+?)\.$/gm, (name) => ({
    code: 'essential',
    package: name,
    reason: `${name} is essential: the device does not work without it`,
  })),
  stated(/^Package (\S+) version \S+ has no valid architecture, ignoring\.$/gm, wrongArchitecture),
  stated(/^Unknown package '(\S+)'\.$/gm, notOffered),
  stated(/^Not upgrading package (\S+) which is marked hold /gm, (name) => ({
    code: 'held',
    package: name,
    reason: `${name} is held at its version`,
  })),
];

function stated(expression: RegExp, failure: (name: string) => Failure): Complaint {
  return {
    expression,
    failure: ([name = ''], { names }) => (names.includes(name) ? failure(name) : undefined),
  };
}

/** wget says that it could not write: opkg has it write to a folder of its own in /tmp. */
const NOT_WRITTEN = '3';

function notDownloaded(url: string, exitCode: string): Failure {
  if (exitCode !== NOT_WRITTEN) {
    const reason = `${url} cannot be downloaded: ${downloadFault(exitCode)}`;
    return { code: 'download_failed', reason };
  }
  const reason = `there is no room to download ${url} to`;
  return { code: 'no_space', reason, remedy: ADVICE.roomInTmp };
}

const LARGEST_KILOBYTES = 2n ** 40n;

/** opkg keeps the size of a package in a signed 32-bit integer: two gigabytes and more wrap. */
function bytesOf(kilobytes: string): number {
  const count = BigInt(kilobytes);
  const isWrapped = count < 0n || count > LARGEST_KILOBYTES;
  return Number(isWrapped ? BigInt.asUintN(32, count * 1024n) : count * 1024n);
}

/** opkg leaves out of its lists what is made for other devices, and says so of each. */
function foreignOne(needed: string, lines: readonly string[]): Failure | undefined {
  const [name = ''] = needed.split(' ');
  const isLeftOut = lines.some((line) => LEFT_OUT.exec(line)?.[1] === name);
  return isLeftOut ? wrongArchitecture(name) : undefined;
}

const LEFT_OUT = /^Package (\S+) version .* has no valid architecture, ignoring\.$/;

function wrongArchitecture(name: string): Failure {
  const reason = `${name} is not made for the architecture of this device`;
  return { code: 'wrong_architecture', package: name, reason };
}

function notOffered(name: string): Failure {
  return { code: 'not_found', package: name, reason: `no feed offers ${name}` };
}

/** `print_dependents_warning:  demo-app`, one a line. */
function namesBehindTabs(text: string): string {
  return Array.from(text.matchAll(/: {2}(\S+)/g), ([, name = '']) => name).join(', ');
}
