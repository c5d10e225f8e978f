import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./programs.js";

/** A command of this project that a page prints. */
export interface DocumentedCommand {
  page: string;
  /** What stands on the command line after `ratelimit-bench`, or after the name of a script. */
  words: string[];
  /** The path of a script; absent where the command is that of the package. */
  script?: string;
  env: Record<string, string>;
}

const FIELD = "\x1f";
const RECORD = "\x1e";

/**
 * A shell in which the programs of this project note how they were called. It finds no other
 * program, so that whatever else a block does has no effect but on the shell itself.
 */
const SHELL = `
PATH=/nonexistent
note() {
  local name
  printf '%s\\x1f' "$page" "$1"
  for name in $(compgen -e); do
    case $name in PATH | PWD | OLDPWD | SHLVL | _) ;; *) printf '%s=%s\\x1f' "$name" "\${!name}" ;; esac
  done
  printf -- '--'
  shift
  (($# == 0)) || printf '\\x1f%s' "$@"
  printf '\\x1e'
} >&3
command_not_found_handle() { :; }
ratelimit-bench() { note '' "$@"; }
node() { [[ $1 != dist/orchestrator/cli.js ]] || note '' "\${@:2}"; }
`;

const scriptFunction = (path: string): string =>
  [path, `./${path}`].map((name) => `${name}() { note ${path} "$@"; }`).join("\n");

const filesBelow = (folder: string, ending: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`)
    .toSorted();

/** The blocks of shell code of a page. */
const blocksOf = (page: string): string[] =>
  [...readFileSync(join(ROOT, page), "utf8").matchAll(/^```(?:bash|sh)\n(.*?)^```$/gms)].map(
    ([, text = ""]) => text,
  );

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Each block has a shell of its own, in an empty folder. */
const inSubshell = (page: string, block: string, folder: string): string =>
  `( page=${page}; cd ${quoted(folder)}; eval ${quoted(block)} ) >/dev/null </dev/null`;

function parseRecord(record: string): DocumentedCommand {
  const [page = "", script = "", ...fields] = record.split(FIELD);
  const end = fields.indexOf("--");
  const env = fields.slice(0, end).map((field) => {
    const [, name = "", value = ""] = /^(\w+)=(.*)$/s.exec(field) ?? [];
    return [name, value] as const;
  });
  const command = { page, words: fields.slice(end + 1), env: Object.fromEntries(env) };
  return script === "" ? command : { ...command, script };
}

/**
 * The commands of this project that README.md and the pages of docs/ print, as a shell reads them.
 * @param folder an empty folder, in which the shell works
 */
export function documentedCommands(folder: string): DocumentedCommand[] {
  const pages = ["README.md", ...filesBelow("docs", ".md")];
  const blocks = pages.flatMap((page) =>
    blocksOf(page).map((block) => inSubshell(page, block, folder)),
  );
  const scripts = filesBelow("scripts", ".sh").map(scriptFunction);
  const { output } = spawnSync("bash", ["--noprofile", "--norc"], {
    input: [SHELL, ...scripts, ...blocks].join("\n"),
    env: { PATH: process.env.PATH },
    encoding: "utf8",
    stdio: ["pipe", "ignore", "ignore", "pipe"],
  });
  const notes = output[3] ?? "";
  return notes.split(RECORD).filter(Boolean).map(parseRecord);
}
