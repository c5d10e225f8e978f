import type { CompletionCommand, CompletionFlag } from "./words.js";

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const escaped = (text: string, characters: RegExp): string => text.replaceAll(characters, "\\$&");

function argument({ name, summary, placeholder, optional, values, isPath }: CompletionFlag): string {
  const explained = `${name}${placeholder ? "=" : ""}[${escaped(summary, /[\\[\]]/g)}]`;
  if (placeholder === undefined) return quoted(explained);
  const words = values.map((value) => escaped(value, /[\\:]/g)).join(" ");
  const add = placeholder.startsWith("list") ? "_sequence compadd" : "compadd";
  // No space after a value that is continued.
  const suffix = values.some((value) => value.endsWith(":")) ? ' -S ""' : "";
  const action = isPath ? "_files" : words && `${add}${suffix} - ${words}`;
  return quoted(`${explained}${optional ? "::" : ":"}${escaped(placeholder, /[\\:]/g)}:${action}`);
}

function branch({ name, flags, words, takesPaths }: CompletionCommand): string {
  const parameters = [
    ...flags.map(argument),
    ...(words.length > 0 ? [quoted(`1:word:(${words.join(" ")})`)] : []),
    ...(takesPaths ? [quoted("*:path:_files")] : []),
  ];
  return `    ${name})\n      _arguments ${parameters.join(" \\\n        ")} ;;`;
}

/** A zsh script, for \`source <(…)\` and for a file \`_ratelimit-bench\` in a folder of \`fpath\`. */
export function zshScript(commands: readonly CompletionCommand[]): string {
  const described = commands.map(({ name, summary }) => quoted(`${name}:${escaped(summary, /[\\:]/g)}`));
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
${commands.map(branch).join("\n")}
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _ratelimit_bench "$@"
else
  (($+functions[compdef])) || { autoload -Uz compinit && compinit -i; }
  compdef _ratelimit_bench ratelimit-bench
fi`;
}
