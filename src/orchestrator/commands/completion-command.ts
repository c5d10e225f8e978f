import { Argument, type Command, type Option } from "commander";
import { EXIT } from "../../kit/errors.js";
import { shellQuoted } from "../../kit/shell-words.js";
import { createCommand } from "../request/command-line.js";
import { SETTINGS } from "../request/settings.js";
import { type CliCommand, parsedCommand } from "./command-types.js";

interface CompletionFlag {
  name: string;
  summary: string;
  placeholder?: string;
  optional?: boolean;
  /** Values to offer. A flag that takes a list separates them by commas. */
  values: readonly string[];
  isPath: boolean;
}

interface CompletionCommand {
  name: string;
  summary: string;
  words: readonly string[];
  takesPaths: boolean;
  flags: readonly CompletionFlag[];
}

/** Choices of the settings, for options that do not list theirs to commander. */
export const SETTING_VALUES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  SETTINGS.flatMap(({ key, choices }) =>
    choices ? [[`--${key}`, choices().map(({ value }) => value)]] : [],
  ),
);

const PATH_PLACEHOLDER = /^(dir|file|path|folder|campaign)/i;

function flagOf({ long, flags, description, argChoices }: Option): CompletionFlag[] {
  if (!long) return [];
  const [, bracket, placeholder] = /([<[])(.+)[>\]]$/.exec(flags) ?? [];
  if (!placeholder) return [{ name: long, summary: description, values: [], isPath: false }];
  return [
    {
      name: long,
      summary: description,
      placeholder,
      optional: bracket === "[",
      values: argChoices ?? SETTING_VALUES[long] ?? [],
      isPath: PATH_PLACEHOLDER.test(placeholder),
    },
  ];
}

function describe(name: string, command: Command): CompletionCommand {
  return {
    name,
    summary: command.description(),
    words: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    takesPaths: command.registeredArguments.some((argument) =>
      PATH_PLACEHOLDER.test(argument.name()),
    ),
    flags: [
      ...command.options.filter(({ hidden }) => !hidden).flatMap(flagOf),
      { name: "--help", summary: "display help for command", values: [], isPath: false },
    ],
  };
}

/** Commands, flags and values to complete, read from the definitions of the commands. */
export const completionOf = (commands: readonly CliCommand[]): CompletionCommand[] =>
  commands.map((command) => describe(command.name, command.definition({ commands })));

const list = (words: readonly string[]): string => `'${words.join(" ")}'`;

/** The shell completes paths itself. */
const PATHS_FOLLOW = "compopt -o default 2>/dev/null; return";

function bashBranch(command: string, flags: readonly CompletionFlag[], action: string): string[] {
  if (flags.length === 0) return [];
  return [`    ${flags.map(({ name }) => `${command}:${name}`).join("|")}) ${action} ;;`];
}

/** A bash script for `source <(…)`. It needs no bash-completion package and runs no program. */
function bashScript(commands: readonly CompletionCommand[]): string {
  const values = commands.flatMap(({ name, flags }) => {
    const valued = flags.filter(({ placeholder }) => placeholder !== undefined);
    const paths = valued.filter(({ isPath }) => isPath);
    const free = valued.filter(({ isPath, values: words }) => !isPath && words.length === 0);
    const listed = valued.filter(({ isPath, values: words }) => !isPath && words.length > 0);
    return [
      ...listed.map((flag) => `    ${name}:${flag.name}) words=${list(flag.values)} ;;`),
      ...bashBranch(name, paths, PATHS_FOLLOW),
      ...bashBranch(name, free, "return"),
    ];
  });
  const flags = commands.map((command) => {
    const names = command.flags.map(({ name }) => name);
    return `    ${command.name}:-*) words=${list(names)} ;;`;
  });
  const withPaths = commands.filter(({ takesPaths }) => takesPaths);
  const words = commands.filter((command) => command.words.length > 0);
  return `# Completion of ratelimit-bench for bash, made by: ratelimit-bench completion bash
_ratelimit_bench() {
  local IFS=$' \\t\\n' line=\${COMP_LINE:0:COMP_POINT} command= previous= current words= head= reply
  local -a typed
  # Split at blanks only: bash itself also splits at colons and equals signs in values.
  read -ra typed <<<"$line"
  [[ $line == *[[:blank:]] ]] && typed+=('')
  current=\${typed[\${#typed[@]} - 1]}
  if ((\${#typed[@]} > 2)); then
    command=\${typed[1]} previous=\${typed[\${#typed[@]} - 2]}
  fi
  COMPREPLY=()
  if [[ $current == --*=* ]]; then
    previous=\${current%%=*} current=\${current#*=}
    [[ $COMP_WORDBREAKS == *=* ]] || head=$previous=
  fi
  case $command:$previous in
${values.join("\n")}
    :*) words=${list([...commands.map(({ name }) => name), "--help", "--version"])} ;;
    *) case $command:$current in
${flags.join("\n")}
${words.map((command) => `    ${command.name}:*) words=${list(command.words)} ;;`).join("\n")}
${withPaths.map(({ name }) => `    ${name}:*) ${PATHS_FOLLOW} ;;`).join("\n")}
    esac ;;
  esac
  # The last word of a list.
  if [[ $current == *,* ]]; then head+=\${current%,*}, current=\${current##*,}; fi
  while IFS= read -r reply; do
    [[ -z $reply ]] || COMPREPLY+=("$head$reply")
  done < <(compgen -W "$words" -- "$current")
  # A word of readline starts after the last colon.
  if [[ $COMP_WORDBREAKS == *:* && $head$current == *:* ]]; then
    current=$head$current
    current=\${current%"\${current##*:}"}
    COMPREPLY=("\${COMPREPLY[@]#"$current"}")
  fi
  if [[ \${#COMPREPLY[@]} == 1 && \${COMPREPLY[0]} == *: ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _ratelimit_bench ratelimit-bench`;
}

const escaped = (text: string, characters: RegExp): string => text.replaceAll(characters, "\\$&");

function argument({
  name,
  summary,
  placeholder,
  optional,
  values,
  isPath,
}: CompletionFlag): string {
  const explained = `${name}${placeholder ? "=" : ""}[${escaped(summary, /[\\[\]]/g)}]`;
  if (placeholder === undefined) return shellQuoted(explained);
  const words = values.map((value) => escaped(value, /[\\:]/g)).join(" ");
  const add = placeholder.startsWith("list") ? "_sequence compadd" : "compadd";
  // No space after a value that is continued.
  const suffix = values.some((value) => value.endsWith(":")) ? ' -S ""' : "";
  const action = isPath ? "_files" : words && `${add}${suffix} - ${words}`;
  return shellQuoted(
    `${explained}${optional ? "::" : ":"}${escaped(placeholder, /[\\:]/g)}:${action}`,
  );
}

function zshBranch({ name, flags, words, takesPaths }: CompletionCommand): string {
  const parameters = flags.map(argument);
  if (words.length > 0) parameters.push(shellQuoted(`1:word:(${words.join(" ")})`));
  if (takesPaths) parameters.push(shellQuoted("*:path:_files"));
  return `    ${name})\n      _arguments ${parameters.join(" \\\n        ")} ;;`;
}

/**
 * A zsh script, for \`source <(…)\` and for a file \`_ratelimit-bench\` in a folder of \`fpath\`.
 */
function zshScript(commands: readonly CompletionCommand[]): string {
  const described = commands.map(({ name, summary }) =>
    shellQuoted(`${name}:${escaped(summary, /[\\:]/g)}`),
  );
  return `#compdef ratelimit-bench
# Completion of ratelimit-bench for zsh, made by: ratelimit-bench completion zsh
_ratelimit_bench() {
  if ((CURRENT == 2)); then
    local -a commands=(
      ${described.join("\n      ")}
    )
    if [[ $PREFIX == -* ]]; then
      compadd -- --help --version
    else
      _describe command commands
    fi
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
${commands.map(zshBranch).join("\n")}
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _ratelimit_bench "$@"
else
  (($+functions[compdef])) || { autoload -Uz compinit && compinit -i; }
  compdef _ratelimit_bench ratelimit-bench
fi`;
}

const shells = { bash: bashScript, zsh: zshScript } as const;
type Shell = keyof typeof shells;

const EXAMPLES = `
  source <(ratelimit-bench completion bash)      in ~/.bashrc
  source <(ratelimit-bench completion zsh)       in ~/.zshrc, after compinit`;

const definition = () =>
  createCommand("ratelimit-bench completion")
    .description("Prints a script that completes commands, flags and values in bash or zsh.")
    .addArgument(new Argument("<shell>").choices(Object.keys(shells)))
    .addHelpText("after", EXAMPLES);

export const completion = parsedCommand(
  "completion",
  definition,
  async (command, { commands, print }) => {
    print(shells[command.args[0] as Shell](completionOf(commands)));
    return EXIT.done;
  },
);
