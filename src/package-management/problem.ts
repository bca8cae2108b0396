import { EXPLANATIONS } from '../jobs/explanation.ts';

/** As the interface shows it. */
export interface Problem {
  code: ProblemCode;
  /** The package that the problem is about; absent if it is about the whole change. */
  package?: string;
  /** The cause in one sentence, lower case, with names and figures. */
  message: string;
  /** What the owner can do about it, in one sentence. */
  remedy: string;
  /** How much room is short, with what the package manager wants to spare. */
  missing_bytes?: number;
}

/** A text for each code, which pages translate by it. `{package}`: the problem's package. */
export const REMEDIES = {
  not_found: 'Update the package lists, then search the store for the name of {package}.',
  dependency_missing:
    'Update the package lists; if it is still missing, add the feed that offers it.',
  dependency_conflict: 'Remove one of the packages that exclude each other, then try again.',
  file_conflict:
    'Remove the package that owns the file, then try again; if it comes along with this one, its ' +
    'maker has to mend that.',
  no_space: 'Free space on the device by removing packages or files, then try again.',
  wrong_architecture: "Look for {package} in a feed that is built for this device's architecture.",
  kernel_mismatch:
    "Upgrade the firmware, or use the feeds of the firmware's own release: kernel modules fit " +
    'one kernel alone.',
  needed_by: 'Remove the packages that need {package} first.',
  essential: 'Keep {package}: the device does not work without it.',
  no_lists: 'Check the internet connection, then update the package lists.',
  download_failed: 'Check the internet connection, update the package lists and try again.',
  checksum: 'Update the package lists and try again; if it fails again, the feed is damaged.',
  signature: 'Try later or from another network: what came is not what was signed.',
  damaged_package: 'Download it again, or get it from another source.',
  script_failed: 'Read the end of the task log for what the script of {package} complains about.',
  locked: 'Wait until the other program that changes packages has ended, then try again.',
  plan_too_large: 'Remove the feed that the message names, update the package lists and try again.',
  queue_full: EXPLANATIONS.queueFull.remedy,
  damaged_database: 'Restore the package database from a backup, or install the firmware again.',
  held: 'Release {package} from its hold, then try again.',
  not_allowed: 'Leave it as it is, or change it on a terminal as root.',
  older_version: 'Allow "downgrade" in fleet.allow of the device, or roll out a newer version.',
  plan_unreadable: 'Mend depotd.plan of the module as the message says, and assign it anew.',
  time_limit:
    'Read the end of the task log for what it waits for; a plan may give it longer by "limit_s".',
  cut_off: 'Look whether the settings fit this device: they were put back.',
  verify_failed: 'Read the end of the task log: what was changed was put back.',
  firmware_refused:
    'Read the end of the task log: the image does not fit this device, or its memory.',
  token_refused: 'Set the token at the server while the action waits for it; the old one is kept.',
  stopped: EXPLANATIONS.stopped.remedy,
  interrupted: EXPLANATIONS.interrupted.remedy,
  unknown: EXPLANATIONS.unknown.remedy,
} as const;

/** What stands against a change of packages, or why one failed; callers branch on the code. */
export type ProblemCode = keyof typeof REMEDIES;
export const PROBLEM_CODES = Object.keys(REMEDIES) as readonly ProblemCode[];

/** What fits better than the text of a code, for those who know more than that. */
export const ADVICE = {
  notInstalled: 'Look at the list of what is installed for its name.',
  system:
    'Keep it; if it has to go, its own page removes it once its name is typed in, and so does ' +
    '"depotctl remove --system".',
  removeNewer: 'Remove it first, then install the file.',
  feedAddress: 'Check the address of the feed and the internet connection, then try again.',
  notAList: 'Check the address of the feed: what is there is no package list.',
  redirected: 'Write that address into the list of feeds, in the place of the one that is there.',
  webPage: 'Log in to the network first: a web page came in place of the list.',
  changedOnTheWay: 'Try later or from another network: the list was changed on its way.',
  unknownKey: "Add the feed's public key if you trust the feed, or remove the feed.",
  roomInTmp:
    'Free space in /tmp, which is memory on most devices: remove files there or stop apps, then ' +
    'try again.',
  unsigned: 'Ask whoever runs the feed to sign it, or remove the feed.',
} as const;

/** What goes wrong with a feed itself is seldom mended by a new list or another download. */
const FEED_REMEDIES: Partial<Record<ProblemCode, string>> = {
  download_failed: ADVICE.feedAddress,
  damaged_package: ADVICE.notAList,
  signature: ADVICE.changedOnTheWay,
};

export function feedRemedyOf(code: ProblemCode): string {
  return FEED_REMEDIES[code] ?? REMEDIES[code];
}

/** @param name of the package that it is about; without one the remedy speaks of "the package" */
export function createProblem(code: ProblemCode, message: string, name?: string): Problem {
  const about = name === undefined ? {} : { package: name };
  return { code, ...about, message: nameOnce(message), remedy: remedyOf(code, name) };
}

export function remedyOf(code: ProblemCode, name = 'the package'): string {
  // As a function: `$&` in a name is no pattern.
  return REMEDIES[code].replace('{package}', () => name);
}

const HEAD = /^cannot \w+ ([^ ,:]+): /;

/**
 * `cannot install demo: demo needs x` says `it needs x`: the name that a sentence begins with comes
 * once. What is quoted, an address or a path is left as it is, and so is an upgrade of all.
 */
export function nameOnce(message: string): string {
  const [head, name] = HEAD.exec(message) ?? [];
  if (head === undefined || name === undefined || name === 'all') return message;
  const escaped = name.replace(/[^\w-]/g, String.raw`\$&`);
  // apk names packages with their version.
  const word = String.raw`${escaped}(?:-\d\S*-r\d+)?`;
  const end = String.raw`(?=$|[ ,;:])`;
  const inQuotes = /("[^"]*")/;
  const itsPart = new RegExp(`\\bthe (script|files?|size) of ${word}${end}`, 'g');
  const before = String.raw`(?<=^|[:;] |\b(?:offers|have|of|without|needs?) )`;
  // Behind a comma one with a version is one of several.
  const itself = new RegExp(`(?:${before}${word}|(?<=, )${escaped})${end}`, 'g');
  const pieces = message.slice(head.length).split(inQuotes);
  const said = pieces.map((piece) => {
    if (inQuotes.test(piece)) return piece;
    const short = piece.replace(itsPart, 'its $1').replace(itself, 'it');
    return short.replace(/(?<=^| )it (?=\d)/g, 'version ');
  });
  return head + said.join('');
}
