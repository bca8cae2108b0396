import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { COMMAND_NAMES, COMMANDS } from '../../../src/cli/usage/commands.ts';
import type { Shell } from '../../../src/cli/usage/commands.ts';
import { completionScript, SHELLS } from '../../../src/cli/usage/completion.ts';
import { runCommand } from '../../device/command.ts';
import { runDepotctl } from '../start-depotctl.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test.each(SHELLS)('depotctl completion %s prints the script', async (shell) => {
  expect(await runDepotctl('completion', shell)).toEqual({
    code: 0,
    stdout: completionScript(shell),
    stderr: '',
  });
});

test.each([
  [['inst'], ['install']],
  [
    ['feeds', 'o'],
    ['on', 'off'],
  ],
  [
    ['install', '--d'],
    ['--dry-run', '--detach'],
  ],
  [
    ['--json', 'list', '--u'],
    ['--upgradable', '--url'],
  ],
  [['plan', 'u'], ['upgrade']],
  [['remove', 'no'], ['notes']],
  [['info', 'lib'], ['libdemo']],
  [
    ['install', 'ad'],
    ['adblock', 'adguardhome'],
  ],
  [
    ['plan', 'install', 'ad'],
    ['adblock', 'adguardhome'],
  ],
  [['plan', 'remove', 'no'], ['notes']],
  [['--url', 'http://box:8080', 'inst'], ['install']],
  [['--url=http://box:8080', '--base', '/cgi-bin', '--json', 'remove', 'no'], ['notes']],
  [
    ['feeds', '--key', '/tmp/new.pub', 'o'],
    ['on', 'off'],
  ],
  [['plan', '--session', 'install', 'u'], ['upgrade']],
])('in bash %j is completed to %j', async (words, expected) => {
  expect(await completeInBash(words)).toEqual(expected);
});

const OPTIONS_BEFORE: [string, string][] = [
  ['depotctl --url http://box:8080 inst', 'depotctl --url http://box:8080 install'],
  ['depotctl --url=http://box:8080 feeds of', 'depotctl --url=http://box:8080 feeds off'],
  ['depotctl plan --base /x --json up', 'depotctl plan --base /x --json upgrade'],
];

test.each(OPTIONS_BEFORE)('in fish %j is completed to %j', async (line, expected) => {
  const program = `source $argv[1]; complete -C $argv[2]`;
  const found = await runCommand(['fish', '-c', program, await scriptFile('fish'), line]).catch(
    () => undefined,
  );
  const word = expected.split(' ').at(-1);
  if (found !== undefined) expect(found.stdout.replace(/\t.*/, '')).toBe(`${word}\n`);
});

test.each<[string, string]>([
  ...OPTIONS_BEFORE,
  ['depotctl --js', 'depotctl --json'],
  ['depotctl --session 0 list --up', 'depotctl --session 0 list --upgradable'],
  ['depotctl search word --na', 'depotctl search word --names'],
])('in zsh %j is completed to %j', async (line, expected) => {
  const completed = await completeInZsh(line).catch(() => undefined);
  if (completed !== undefined) expect(completed).toBe(expected);
});

/** While no daemon runs, any user of the host may answer at its port. */
test.each([['install'], ['info']])(
  'in bash no name that whoever answers makes up is run as a command (%s)',
  async (command) => {
    expect(await completeInBash([command, 'ev'])).toEqual(['evening']);
  },
);

test.each(['upload', 'migrate', 'backup', 'restore', 'advisories'])(
  'in every shell %s, which takes a file, is completed by files',
  (command) => {
    const [bash, zsh, fish] = (['bash', 'zsh', 'fish'] as const).map(completionScript);
    expect(bash).toMatch(
      new RegExp(`^ +[a-z|]*\\b${command}\\b[a-z|]*\\) compopt -o default`, 'm'),
    );
    expect(zsh).toMatch(new RegExp(`^ +${command}\\) .*'\\*:file:_files'`, 'm'));
    expect(fish).toContain(`complete -c depotctl -n '__fish_seen_subcommand_from ${command}' -F`);
  },
);

test('in bash the first word is a command or a common option', async () => {
  expect(await completeInBash([''])).toEqual([...COMMAND_NAMES, ...commonOptions()]);
});

test.each(['zsh', 'fish'] as const)('%s reads its script if it is here', async (shell) => {
  const file = await scriptFile(shell);
  const check = await runCommand([shell, '-n', file]).catch(() => undefined);

  // A shell that is not installed can say nothing.
  if (check !== undefined) expect(check).toEqual({ code: 0, stdout: '', stderr: '' });
  const script = completionScript(shell);
  for (const name of COMMAND_NAMES) expect(script).toContain(name);
  for (const option of COMMANDS.install.options) expect(script).toContain(option);
});

function commonOptions(): string[] {
  return ['--url', '--base', '--session', '--json', '--help', '--version'];
}

/**
 * A stand-in for depotctl says what is installed, and what feeds offer. Bash parts its words at
 * colons and equals signs.
 */
async function completeInBash(words: readonly string[]): Promise<string[]> {
  const file = await scriptFile('bash');
  const program = `
    depotctl() {
      case "$*" in
      'search --names -- ev') printf '%s\\n' evening 'ev$(echo il)' 'ev\`echo il\`' 'ev*' ;;
      'search --names -- ad') printf '%s\\n' adblock adguardhome ;;
      'list --all --json') echo '[{"name":"notes","kind":"app"},{"name":"libdemo","kind":"package"},{"name":"evening"},{"name":"ev$(echo il)"}]' ;;
      *) return 2 ;;
      esac
    }
    source "$1"; shift
    COMP_LINE="depotctl $*"; COMP_POINT=\${#COMP_LINE}
    words="\${COMP_LINE//:/ : }"; read -ra COMP_WORDS <<<"\${words//=/ = }"
    [[ -n \${!#} ]] || COMP_WORDS+=('')
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    _depotctl 2>/dev/null
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await runCommand(['bash', '-c', program, 'bash', file, ...words]);
  return stdout.trim().split('\n');
}

/** As a terminal has it: the line, and the key for completion. */
async function completeInZsh(line: string): Promise<string> {
  const program = `
    zmodload zsh/zpty; zpty shell zsh -f -i
    zpty -w shell "autoload -Uz compinit; compinit -u -D; source $1; show() {
      BUFFER=\\$LINE; CURSOR=\\$#BUFFER; zle complete-word; print -r -- \\$BUFFER >$1.out; exit
    }; zle -N show; bindkey '^X' show; LINE='$2'; print REA''DY"
    zpty -r -m shell said '*READY*'; zpty -w -n shell $'\\x18'
    while zpty -r shell said; do :; done
    cat $1.out`;
  const file = await scriptFile('zsh');
  return (await runCommand(['zsh', '-f', '-c', program, 'zsh', file, line])).stdout.trim();
}

async function scriptFile(shell: Shell): Promise<string> {
  const folder = await temporaryFolder();
  const file = join(folder, 'script');
  await writeFile(file, completionScript(shell));
  return file;
}
