import { existsSync } from 'node:fs';
import type { Command } from '../../../device/command.ts';
import type { BackendContext, PackageChange, PackageCommands } from '../../manager.ts';
import type { Locations } from '../database/apk-locations.ts';

/** How long apk waits for its lock; the job says so, and can be stopped. */
const LOCK_LIMIT_S = 600;
/**
 * apk fetches an index older than four hours again by itself, and a plan would not hold then: only
 * `update` is to fetch.
 */
const INDEX_AGE_MINUTES = 60 * 24 * 365;

export type ApkCommands = ReturnType<typeof createApkCommands>;

/**
 * apk's argument vectors. `--` stands before names, and the working folder of changes has no files,
 * since an argument with a dot that names a file there is taken for a package file. The owner's
 * default options (`/etc/apk/config`) are shut out.
 */
export function createApkCommands(context: BackendContext, locations: Locations) {
  const { paths, scriptEnvironment } = context;
  const { empty, ownCache } = locations;
  const rootOptions = paths.isLive ? [] : ['--root', paths.root];
  const apk = (...rest: string[]): Command => ({
    argv: ['apk', ...rootOptions, ...cacheOptions(ownCache), ...ALWAYS, ...rest],
    environment: { ...scriptEnvironment, APK_CONFIG: '/dev/null' },
  });
  const changing = (...rest: string[]): Command => ({
    ...apk('--wait', `${LOCK_LIMIT_S}`, '--cache-max-age', `${INDEX_AGE_MINUTES}`, ...rest),
    cwd: empty,
  });
  const commands: PackageCommands = {
    install: (names) => changing('--cache-predownload', 'add', '--', ...names),
    // A dead feed is no reason not to upgrade these from other feeds; to upgrade all it would be.
    upgrade: (names) => {
      const options = ['--cache-predownload', '--force-missing-repositories'];
      return changing(...options, 'upgrade', '--', ...atLeastOne(names));
    },
    remove: (names) => changing('del', '--', ...atLeastOne(names)),
    configure: (names) => changing('--cache-predownload', 'fix', '--', ...atLeastOne(names)),
    update: () => apk('--wait', `${LOCK_LIMIT_S}`, 'update'),
    fetch: (names, folder) => apk('fetch', '--output', folder, '--', ...atLeastOne(names)),
    // Unsigned as feeds' packages are; what it depends on was fetched before, checked, and is all
    // that counts: with this option a feed's index would be taken unsigned, too.
    installFile: (file) =>
      changing('--cache-predownload', '--allow-untrusted', NO_NETWORK, 'add', '--', file),
    shown: ({ verb, names }) => ['apk', WORDS[verb], ...names].join(' '),
  };
  const build = ({ verb, names, file }: PackageChange): Command =>
    file === undefined ? commands[verb](names) : commands.installFile(file.path);
  return {
    ...commands,
    /** Any other command line. */
    apk,
    /** Goes over whatever is there, from these files alone. */
    addFiles: (files: readonly string[], ...options: string[]) =>
      withOptions(changing('--allow-untrusted', NO_NETWORK, 'add', '--', ...files), options),
    /** Installs once more what is on record in this version; not from files. */
    reinstall: (names: readonly string[], ...options: string[]) =>
      withOptions(commands.configure(names), options),
    /** Simulates a change: nothing is fetched, locked or changed. */
    simulate: (wanted: PackageChange) => withOptions(withNetwork(build(wanted)), ['--simulate']),
    /** The change itself; with `--no-scripts`, without the packages' scripts. */
    change: (wanted: PackageChange, ...options: string[]) => withOptions(build(wanted), options),
  };
}

const ALWAYS = ['--no-interactive', '--no-progress'];

/** While a job's packages do not fit into memory, they lie in a folder of the daemon's. */
function cacheOptions(ownCache: string): string[] {
  return existsSync(ownCache) ? ['--cache-dir', ownCache] : [];
}

const WORDS = { install: 'add', upgrade: 'upgrade', remove: 'del' } as const;

/** Without names apk would upgrade everything, or solve anew and remove what world lacks. */
function atLeastOne(names: readonly string[]): readonly string[] {
  if (names.length === 0) throw new Error('cannot run apk without the names of packages');
  return names;
}

/** A plan fetches nothing, and must count on what is not fetched yet. */
function withNetwork({ argv: [program, ...args], ...rest }: Command): Command {
  return { ...rest, argv: [program, ...args.filter((word) => word !== NO_NETWORK)] };
}

const NO_NETWORK = '--no-network';

/** Options stand ahead of the command's name, where apk takes them for every command. */
function withOptions({ argv: [program, ...args], ...rest }: Command, options: string[]): Command {
  return { ...rest, argv: [program, ...options, ...args] };
}
