import {
  downloadFault,
  firstMatch,
  linePattern,
  plainLines,
  quoted,
  endOfScript,
  refusedBy,
  scriptOf,
  unmetDependency,
  type Complaint,
  type FailedCommand,
  type Failure,
} from '../../failure.ts';

/**
 * What apk said of a failure. It begins its own complaints with `ERROR:` at the start of a line,
 * and puts a star before each line of a script (docs/reference/apk.md), so that no script can
 * pass for it. Lines that belong to a complaint follow it, indented.
 * @returns undefined if apk said nothing
 */
export function explain({ output, names }: FailedCommand): Failure | undefined {
  const lines = plainLines(output);
  const said = complaintsIn(lines);
  const known = firstMatch(said.join('\n'), COMPLAINTS, { lines, names });
  if (known !== undefined) return known;
  const own = names.find((name) => said.some((line) => nameOf(line.split(':')[0] ?? '') === name));
  const last = said.findLast((line) => own === undefined || line.startsWith(`${own}-`));
  if (last === undefined) return undefined;
  const failure: Failure = { code: 'unknown', reason: `apk says ${quoted(last)}` };
  return own === undefined ? failure : { ...failure, package: own };
}

/** One line each: what belongs to a complaint stands behind it, with single blanks. */
function complaintsIn(lines: readonly string[]): string[] {
  const found: string[] = [];
  let isInside = false;
  for (const line of lines) {
    if (line.startsWith('ERROR: ')) found.push(line.slice('ERROR: '.length));
    else if (isInside && /^ +(?!Exec)[^ *]/.test(line)) found.push(`${found.pop()} ${line.trim()}`);
    else if (/^error: /.test(line)) found.push(line);
    isInside = line.startsWith('ERROR: ') || (isInside && line.startsWith(' '));
  }
  return found.map((text) => text.replace(/ +/g, ' '));
}

/** The name in `NAME-VERSION`: a version begins with a digit (docs/reference/apk.md). */
const BUILD = String.raw`(?<name>\S+?)-\d[^\s:-]*(?:-r\d+)?`;

function about(pattern: string): RegExp {
  return new RegExp(`^${BUILD}: ${pattern}`, 'gm');
}

/** What apk complains of, the most telling first. */
const COMPLAINTS: readonly Complaint[] = [
  {
    code: 'locked',
    expression: linePattern(
      '(?:Unable to lock database|Failed to open apk database): ',
      '(?:Resource temporarily unavailable|Interrupted system call)',
    ),
    reason: () => 'another program holds the lock of apk',
  },
  {
    code: 'no_space',
    expression: /^(.*No space left on device)/gm,
    reason: (line) => `the disk is full: apk says ${quoted(line)}`,
  },
  {
    code: 'damaged_database',
    expression: linePattern(
      '(.*(?:FDB format error|Unable to read (?:database|world)|',
      'is not a valid world dependency|old apk-tools).*)$',
    ),
    reason: (line) => `the records of apk cannot be used: it says ${quoted(line)}`,
  },
  {
    expression: /(\S+) \(no such package\): required by: (.+?)(?= \S+ \(|$)/gm,
    failure: ([needed = '', requiredBy = '']) => missing(needed, requiredBy),
  },
  {
    code: 'wrong_architecture',
    expression: /(?:^| )(?<name>\S+?)-\d\S*: error: uninstallable arch: (\S+)/gm,
    reason: (name, architecture) =>
      `${name} is made for the architecture ${architecture}, which this device has not`,
  },
  {
    expression: /^(Not committing changes due to missing repository tags)/gm,
    failure: (_, { lines }) => untagged(lines),
  },
  {
    expression: /(?:^| )(\S+?)-\d\S*: masked in: (@\S+)/gm,
    failure: ([name = '', tag = '']) => ({
      code: 'dependency_missing',
      package: name,
      reason: `${name} is offered by a feed with the tag ${tag} alone`,
      remedy: `Take the tag off the feed, or run "apk add ${name}${tag}" on a terminal.`,
    }),
  },
  {
    code: 'not_allowed',
    expression: /^(etc\/apk\/commit_hooks\.d\/\S+): (\w+ (?:with|by) .+)$/gm,
    reason: (program, ending) => refusedBy(`/${program}`, ending),
    remedy: 'Read the end of the task log for what the program says.',
  },
  {
    expression: /(\S+) \(virtual\): note: please select one of the 'provided by'/gm,
    failure: ([name = '']) => ({
      code: 'dependency_missing',
      package: name,
      reason: `${name} stands for several packages, of which one has to be chosen`,
      remedy: `Install one of the packages that provide ${name}, then try again.`,
    }),
  },
  {
    expression: /(?:^| )(\S+?)-\d\S*: breaks: (\S+?)\[(\S+)\]/gm,
    failure: ([name = '', breaker = '', wish = '']) => broken(name, breaker, wish),
  },
  {
    code: 'dependency_conflict',
    expression: /(?:^| )(?<name>\S+?)-\d\S*: conflicts: (\S+?)-\d\S*/gm,
    reason: (name, other) => `${name} conflicts with ${other}`,
  },
  {
    code: 'file_conflict',
    expression: about(String.raw`trying to overwrite (\S+) owned by (\S+)\.`),
    reason: (name, file, owner) =>
      `${name} would replace /${file}, which belongs to ${nameOf(owner)}`,
  },
  {
    code: 'signature',
    expression: /^(\S+: )?UNTRUSTED signature/gm,
    reason: (what) => `the signature of ${what.replace(/: $/, '') || 'a file'} is not trusted`,
  },
  {
    code: 'damaged_package',
    expression: /^\/\S+\.apk: BAD signature$/gm,
    reason: () => 'its signature is of other bytes: it was damaged or changed',
  },
  {
    code: 'checksum',
    expression: about(
      '(?:ADB integrity error|ADB block error|file integrity error|v2 package integrity error|' +
        'BAD signature)',
    ),
    reason: (name) => `what was downloaded of ${name} is not what the index of the feed says`,
  },
  {
    code: 'damaged_package',
    expression: about(
      '((?:file format|v2 package format|package format|ADB schema|ADB) ' +
        '.*(?:invalid|inconsistent|error|supported|obsolete).*)',
    ),
    reason: (name, line) =>
      `what was downloaded of ${name} is no package: apk says ${quoted(line)}`,
  },
  {
    code: 'download_failed',
    expression: /^wget: exited with error (\d+)(?:\n(?<name>\S+?)-\d[^\s:]*: [^\n]*)?$/gm,
    reason: (code, name) =>
      `${name || 'a file of a feed'} cannot be downloaded: ${downloadFault(code)}`,
  },
  {
    code: 'download_failed',
    expression: about(
      '(unexpected end of file|[^\\n]*(?:network|temporary|timed out|refused|No such file)[^\\n]*)',
    ),
    reason: (name, line) => `${name} cannot be downloaded whole: apk says ${quoted(line)}`,
  },
  {
    code: 'download_failed',
    expression: /^(Not continuing due to stale\/unavailable repositories)/gm,
    reason: () => 'the index of a feed cannot be fetched',
  },
  {
    expression: linePattern(
      String.raw`lib/apk/exec/(\S+)\.((?:pre|post)-(?:install|upgrade|deinstall)|trigger): `,
      '((?:exited with|killed by|stopped by) .+)$',
    ),
    failure: ([build = '', script = '', ending = ''], { lines }) => ({
      code: 'script_failed',
      package: nameOf(build),
      reason: endOfScript(
        scriptOf(build, script),
        ending,
        lastWordsOf(`${build}.${script}`, lines),
      ),
    }),
  },
];

function nameOf(build: string): string {
  return build.replace(/-\d[^-]*(?:-r\d+)?$/, '');
}

/** @param requiredBy such as `world[demo]`, or `demo-1.0-r1[libfoo]` */
function missing(needed: string, requiredBy: string): Failure {
  const [first = ''] = requiredBy.split(' ');
  const [, build = first, wish = needed] = /^(.*?)\[(.*)\]$/.exec(first) ?? [];
  const user = nameOf(build);
  if (user === 'world' || user === '') {
    return { code: 'not_found', package: needed, reason: `no feed offers ${needed}` };
  }
  return unmetDependency(user, wish);
}

/** What apk could choose for `name` does not fit the wish of the package that breaks. */
function broken(name: string, build: string, wish: string): Failure {
  const breaker = nameOf(build);
  if (wish.startsWith('!') && breaker === 'world') {
    return {
      code: 'dependency_conflict',
      package: name,
      reason: `/etc/apk/world forbids ${name}`,
      remedy: `Take ${wish} out of /etc/apk/world, then try again.`,
    };
  }
  if (wish.startsWith('!')) {
    const reason = `${breaker} and ${name} exclude each other`;
    return { code: 'dependency_conflict', package: breaker, reason };
  }
  if (breaker !== 'world') return unmetDependency(breaker, wish);
  const reason = `${name} is held: /etc/apk/world asks for ${wish}`;
  return { code: 'held', package: name, reason };
}

/** apk names the tags that no feed has in warnings, ahead of the error. */
function untagged(lines: readonly string[]): Failure {
  const wishes = lines.flatMap(
    (line) => /^WARNING: The repository tag for world dependency '(\S+)'/.exec(line)?.[1] ?? [],
  );
  const named = wishes.length === 0 ? 'a package by a tag' : wishes.join(', ');
  return {
    code: 'dependency_missing',
    reason: `/etc/apk/world asks for ${named}, and no feed has that tag`,
    remedy: 'Add the feed with the tag, or take the tag out of /etc/apk/world.',
  };
}

/** apk announces a script as `Executing NAME-VERSION.SCRIPT`, and puts a star before its lines. */
function lastWordsOf(script: string, lines: readonly string[]): string | undefined {
  const end = lines.findLastIndex((line) => line.startsWith(`ERROR: lib/apk/exec/${script}: `));
  const start = lines.findLastIndex(
    (line, index) => index < end && line.trim() === `Executing ${script}`,
  );
  const last = lines
    .slice(Math.max(0, start), end)
    .findLast((line) => /^ *\* .*[\p{L}\p{N}]/u.test(line));
  return last?.replace(/^ *\* /, '');
}
