import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { replaceFile } from '../../../device/durable-file.ts';
import type { Paths } from '../../../device/paths.ts';
import type { PackageDatabase } from '../../database.ts';
import type { Restoration } from '../../manager.ts';
import { syncDisk } from '../../../device/disk/sync.ts';
import type { OpkgCommands } from '../changing/commands.ts';
import { parseStanza, splitParagraphs } from '../database/stanza.ts';
import { editStatus, packageIn } from '../database/status-file.ts';

/**
 * Puts packages back with opkg. Its record of a package has the hashes of the configuration files
 * as the feed sent them, and whether it came as a dependency: a file that was packed on the device
 * knows neither, and the next upgrade would replace what the owner has changed. So the paragraph
 * of the status file comes back with the package.
 */
export function createRestoration(tools: {
  paths: Pick<Paths, 'root' | 'isLive' | 'onDevice'>;
  statusFile: string;
  /** With the marks that opkg has dropped. */
  installed: () => Promise<PackageDatabase>;
  commands: OpkgCommands;
  environment: Record<string, string>;
}): Restoration {
  const { paths, statusFile, installed, commands, environment } = tools;
  return {
    recordsOf: async (names) => {
      const paragraphs = splitParagraphs(await readFile(statusFile, 'utf8'));
      const found = new Map(paragraphs.map((paragraph) => [packageIn(paragraph), paragraph]));
      const database = await installed();
      return new Map(
        names.flatMap((name) => {
          const paragraph = found.get(name);
          if (paragraph === undefined) return [];
          const isMarked = /^Auto-Installed:/m.test(paragraph);
          const mark = database.get(name)?.isAuto === true && !isMarked;
          return [[name, mark ? `${paragraph}\nAuto-Installed: yes` : paragraph] as const];
        }),
      );
    },
    installFiles: async (files) => {
      const config = paths.isLive ? ['--conf', await writeConfigWithoutLists(paths, files)] : [];
      return commands.opkg(...config, 'install', '--force-downgrade', '--', ...files);
    },
    installOffered: (offers) =>
      commands.opkg('install', '--force-downgrade', '--', ...offers.map(({ name }) => name)),
    finish: async (records) => {
      await editStatus(statusFile, (paragraph) => {
        const before = records.get(packageIn(paragraph));
        return before !== undefined && isSame(paragraph, before) ? before : paragraph;
      });
      await syncDisk(environment, [dirname(statusFile)]);
    },
  };
}

/**
 * Of a version that a list has, too, opkg would fetch that one: here it looks for lists beside the
 * files. The folder stands in the configuration, which overrides the option of that name; with an
 * offline root opkg would read what stands there all the same.
 */
async function writeConfigWithoutLists(
  { root, onDevice }: Pick<Paths, 'root' | 'onDevice'>,
  [file = '']: readonly string[],
): Promise<string> {
  const folder = dirname(file);
  const text = await readFile(onDevice('/etc/opkg.conf'), 'utf8').catch(() => '');
  const kept = text.split('\n').filter((line) => !/^\s*lists_dir\s/.test(line));
  const config = join(folder, 'opkg.conf');
  await replaceFile(config, [...kept, `lists_dir ext /${relative(root, folder)}`, ''].join('\n'));
  return config;
}

/** Whether two paragraphs are of the same version, whole both times. */
function isSame(...paragraphs: readonly [string, string]): boolean {
  const [now, before] = [parseStanza(paragraphs[0]), parseStanza(paragraphs[1])];
  return (
    now.get('Version') === before.get('Version') &&
    [now, before].every((stanza) => stanza.get('Status')?.endsWith(' installed'))
  );
}
