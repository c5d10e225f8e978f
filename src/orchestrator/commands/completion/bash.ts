import type { CompletionCommand, CompletionFlag } from "./words.js";

const list = (words: readonly string[]): string => `'${words.join(" ")}'`;

/** The shell completes paths itself. */
const PATHS_FOLLOW = "compopt -o default 2>/dev/null; return";

function branch(command: string, flags: readonly CompletionFlag[], action: string): string[] {
  if (flags.length === 0) return [];
  return [`    ${flags.map(({ name }) => `${command}:${name}`).join("|")}) ${action} ;;`];
}

/** A bash script for `source <(…)`. It needs no bash-completion package and runs no program. */
export function bashScript(commands: readonly CompletionCommand[]): string {
  const values = commands.flatMap(({ name, flags }) => {
    const valued = flags.filter(({ placeholder }) => placeholder !== undefined);
    const paths = valued.filter(({ isPath }) => isPath);
    const free = valued.filter(({ isPath, values: words }) => !isPath && words.length === 0);
    const listed = valued.filter(({ isPath, values: words }) => !isPath && words.length > 0);
    return [
      ...listed.map((flag) => `    ${name}:${flag.name}) words=${list(flag.values)} ;;`),
      ...branch(name, paths, PATHS_FOLLOW),
      ...branch(name, free, "return"),
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
