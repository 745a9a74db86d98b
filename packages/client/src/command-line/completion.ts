import { COMMON, type Command, EXIT, readParameters, UsageError } from './command.ts'

const SHELLS = ['bash', 'zsh', 'fish']

/** Creates the command `completion`, which knows all other commands. */
export function createCompletion(commands: ReadonlyMap<string, Command>): Command {
  return {
    summary: 'Print completion for a shell',
    help: `Usage: agent-server-client completion <${SHELLS.join('|')}>

Examples:
  source <(agent-server-client completion bash)
  agent-server-client completion fish > ~/.config/fish/completions/agent-server-client.fish`,
    words: SHELLS,
    options: {},
    async run(context) {
      const [shell = ''] = readParameters(context, {}).positionals
      if (!SHELLS.includes(shell)) throw new UsageError(`completion takes ${SHELLS.join(', ')}`)
      context.terminal.print(shell === 'fish' ? fish(commands) : posix(shell, commands))
      return EXIT.done
    },
  }
}

function wordsOf({ words = [], options }: Command): string[] {
  return [...words, ...Object.keys({ ...options, ...COMMON }).map((name) => `--${name}`)]
}

/** A function for Bash, which Zsh runs with its Bash emulation. */
function posix(shell: string, commands: ReadonlyMap<string, Command>): string {
  const cases = Array.from(
    commands,
    ([name, command]) => `    ${name}) words='${wordsOf(command).join(' ')}' ;;`,
  )
  const begin = shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit'] : []
  return [
    ...begin,
    '_agent_server() {',
    "  local words=''",
    `  if [ "$COMP_CWORD" -eq 1 ]; then words='${[...commands.keys()].join(' ')} --help --version'`,
    `  else case "\${COMP_WORDS[1]}" in`,
    ...cases,
    '  esac; fi',
    `  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))`,
    '}',
    'complete -o default -F _agent_server agent-server-client',
  ].join('\n')
}

function fish(commands: ReadonlyMap<string, Command>): string {
  const lines = Array.from(commands).flatMap(([name, command]) => [
    `complete -c agent-server-client -n __fish_use_subcommand -f -a ${name} -d '${command.summary}'`,
    ...wordsOf(command).map((word) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
      return `complete -c agent-server-client -n '__fish_seen_subcommand_from ${name}' ${what}`
    }),
  ])
  return lines.join('\n')
}
