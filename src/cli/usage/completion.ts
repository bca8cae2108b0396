import { COMMAND_NAMES, commandText, type CommandName, type Shell } from './commands.ts';
import { COMMON_OPTIONS, OWN_OPTIONS, ownOption, type OptionText } from './options.ts';

/** Commands whose names are files or folders, and those whose names are what is installed. */
const FILE_COMMANDS = ['upload', 'migrate', 'backup', 'restore', 'advisories'];
const INSTALLED_COMMANDS = ['remove', 'upgrade', 'hold', 'release', 'autoconf', 'status', 'info'];
/** Commands whose names are what feeds offer. */
const OFFERED_COMMANDS = ['install'];
/**
 * Of a name. Bash runs what stands in `$(…)` among the words to choose from, and while no daemon
 * runs, any user of the host may answer in its place.
 */
const NAME = '[A-Za-z0-9][A-Za-z0-9.+_-]*';
/** `depotctl list --json --all` without a program that reads JSON: the values of "name". */
const INSTALLED_NAMES =
  "depotctl list --all --json 2>/dev/null | tr ',' '\\n' | " +
  `sed -n 's/^.*"name":"\\(${NAME}\\)".*$/\\1/p'`;

/** @param start as the shell has the beginning of the word */
const offeredNames = (start: string): string =>
  `depotctl search --names -- ${start} 2>/dev/null | sed -n '/^${NAME}$/p'`;

const COMMON: [string, OptionText][] = Object.entries(COMMON_OPTIONS);
/** Options that the next word belongs to. */
const WITH_VALUE = [...Object.entries<OptionText>(OWN_OPTIONS), ...COMMON].flatMap(
  ([name, { argument }]) => (argument === undefined ? [] : [`--${name}`]),
);

/** A script for a shell. It asks the daemon for names of what is installed or offered, no more. */
export function completionScript(shell: Shell): string {
  return SCRIPTS[shell]();
}

const SCRIPTS: Record<Shell, () => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export const SHELLS = Object.keys(SCRIPTS) as Shell[];

/** Words that may follow a command, beside the options. */
function wordsOf(command: CommandName): readonly string[] {
  return command === 'help' ? COMMAND_NAMES : Object.keys(commandText(command).words ?? {});
}

/** Options with two dashes; without a command those that all take. */
function optionsOf(command?: CommandName): string[] {
  const own = command === undefined ? [] : commandText(command).options;
  return [...own, ...Object.keys(COMMON_OPTIONS)].map((name) => `--${name}`);
}

function bashScript(): string {
  const cases = COMMAND_NAMES.map((name) => {
    const words = [...optionsOf(name), ...wordsOf(name)].join(' ');
    return `    ${name}) words='${words}' ;;`;
  });
  return `# bash completion of depotctl
_depotctl() {
  local current=\${COMP_WORDS[COMP_CWORD]} command='' option='' word words='' before
  # COMP_WORDS has an address in parts, as it is parted at its colons.
  read -ra before <<<"\${COMP_LINE:0:COMP_POINT}."
  for word in "\${before[@]:1:\${#before[@]}-2}"; do
    case $option:$word in
    :${WITH_VALUE.join('|:')}) option=$word; continue ;;
    :-*) ;;
    :*) [[ $command == @(|plan) ]] && command=$word ;;
    esac
    option=''
  done
  [[ -z $option ]] || { compopt -o default 2>/dev/null; return; }
  case $command in
    '') words='${[...COMMAND_NAMES, ...optionsOf()].join(' ')}' ;;
${cases.join('\n')}
  esac
  case $command in
    ${INSTALLED_COMMANDS.join('|')})
      case $current in
      -*) ;;
      *) words="$words $(${INSTALLED_NAMES})" ;;
      esac ;;
    ${OFFERED_COMMANDS.join('|')})
      case $current in
      -* | '') ;;
      *) words="$words $(${offeredNames('"$current"')})" ;;
      esac ;;
    ${FILE_COMMANDS.join('|')}) compopt -o default 2>/dev/null ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _depotctl depotctl
`;
}

function zshScript(): string {
  const commands = COMMAND_NAMES.map(
    (name) => `    '${name}:${quoted(commandText(name).meaning)}'`,
  );
  const cases = COMMAND_NAMES.map((name) => {
    const options = commandText(name).options.map((option) => zshOption(option, ownOption(option)));
    return `    ${name}) _arguments ${[...options, '$common', zshNames(name)].join(' ')} ;;`;
  });
  return `#compdef depotctl
# zsh completion of depotctl
_depotctl_installed() {
  local -a names
  names=(\${(f)"$(${INSTALLED_NAMES})"})
  compadd -a names
}
_depotctl_offered() {
  local -a names
  names=(\${(f)"$(${offeredNames('"$PREFIX"')})"})
  compadd -a names
}
_depotctl() {
  local -a commands common line state
  local -A opt_args
  commands=(
${commands.join('\n')}
  )
  common=(
${COMMON.map(([name, text]) => `    ${zshOption(name, text)}`).join('\n')}
  )
  _arguments -C -A '-*' $common '1:command:{_describe command commands}' '*:: :->behind' && return
  case $words[1] in
${cases.join('\n')}
  esac
}
if [[ $funcstack[1] == _depotctl ]]; then
  _depotctl "$@"
else
  compdef _depotctl depotctl
fi
`;
}

function zshOption(name: string, { argument, values, meaning }: OptionText): string {
  const described = `[${quoted(meaning).replaceAll(/[[\]:]/g, ' ')}]`;
  if (argument === undefined) return `'--${name}${described}'`;
  const value = `${argument.replaceAll('|', ' or ')}:${zshValues(values, argument)}`;
  return `'--${name}=${described}:${value}'`;
}

function zshValues(values: readonly string[] | undefined, argument: string): string {
  if (values !== undefined) return `(${values.join(' ')})`;
  return argument === 'FILE' || argument === 'FOLDER' ? '_files' : '';
}

function zshNames(name: CommandName): string {
  const words = wordsOf(name);
  const ofWords = name === 'plan' ? 'offered' : 'installed';
  if (words.length > 0) return `'1:word:(${words.join(' ')})' '*:name:_depotctl_${ofWords}'`;
  if (FILE_COMMANDS.includes(name)) return "'*:file:_files'";
  if (OFFERED_COMMANDS.includes(name)) return "'*:name:_depotctl_offered'";
  return INSTALLED_COMMANDS.includes(name) ? "'*:name:_depotctl_installed'" : "'*:name:()'";
}

function fishScript(): string {
  // What fish has for it takes an option's value for a command.
  const seenAny = `__fish_seen_subcommand_from ${COMMAND_NAMES.join(' ')}`;
  const lines = COMMAND_NAMES.flatMap((name) => {
    const { meaning, options } = commandText(name);
    const words = wordsOf(name);
    const behind = [
      ...options.map((option) => fishOption(option, ownOption(option))),
      ...(words.length === 0 ? [] : [`-a '${words.join(' ')}'`]),
      ...(INSTALLED_COMMANDS.includes(name) ? ["-a '(__depotctl_installed)'"] : []),
      ...(OFFERED_COMMANDS.includes(name) ? ["-a '(__depotctl_offered)'"] : []),
      ...(FILE_COMMANDS.includes(name) ? ['-F'] : []),
    ];
    const seen = `-n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c depotctl -n "not ${seenAny}" -a ${name} -d '${quoted(meaning)}'`,
      ...behind.map((choice) => `complete -c depotctl ${seen} ${choice}`),
    ];
  });
  const common = COMMON.map(([name, text]) => `complete -c depotctl ${fishOption(name, text)}`);
  return `# fish completion of depotctl
function __depotctl_installed
  ${INSTALLED_NAMES}
end
function __depotctl_offered
  ${offeredNames('(commandline -ct)')}
end
complete -c depotctl -f
${[...lines, ...common].join('\n')}
`;
}

function fishOption(name: string, { short, argument, values, meaning }: OptionText): string {
  return [
    `-l ${name}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    ...(argument === undefined ? [] : ['-r']),
    ...(values === undefined ? [] : [`-a '${values.join(' ')}'`]),
    `-d '${quoted(meaning)}'`,
  ].join(' ');
}

/** A text for single quotes of a shell: a quote becomes a typographic one. */
function quoted(text: string): string {
  return text.replaceAll("'", '’');
}
