import { existsSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { displayPath } from "../../kit/display-path.js";
import { shellQuoted } from "../../kit/shell-words.js";
import { widthOf } from "./text.js";

const packageFolder = fileURLToPath(new URL("../../..", import.meta.url));
const isCheckout = existsSync(join(packageFolder, "scripts/run-all.sh"));

/**
 * The command that starts a campaign: the script in a checkout; the installed package has no
 * scripts.
 */
export const CAMPAIGN_COMMAND = isCheckout ? "./scripts/run-all.sh" : "ratelimit-bench run";
export const AUDIT_COMMAND = "ratelimit-bench audit";
export const CLEAN_COMMAND = "ratelimit-bench clean";
export const HELP_COMMAND = isCheckout ? `${CAMPAIGN_COMMAND} help` : "ratelimit-bench help";
export const REPORT_COMMAND = isCheckout
  ? "./scripts/generate_report.py"
  : "ratelimit-bench report";
export const CAMPAIGN_NAME = isCheckout ? "run-all.sh" : CAMPAIGN_COMMAND;

/** A word of a command line, quoted only where a shell would read it otherwise. */
export const shellWord = (word: string): string =>
  /^[\w@:+.,/=-]+$/.test(word) ? word : shellQuoted(word);

/** The path of a file of the checkout as a shell in the folder starts it. */
function pathFrom(folder: string, file: string): string {
  const path = relative(folder, join(packageFolder, file));
  if (path.startsWith(join("..", "..", ".."))) return shellWord(join(packageFolder, file));
  return shellWord(path.startsWith("..") ? path : `./${path}`);
}

/**
 * A command as it is started from a folder. The written commands are those of the checkout's own
 * folder, so that manifests name no folder of their machine.
 */
export function runnableIn(command: string, folder: string = process.cwd()): string {
  if (!isCheckout) return command;
  return command
    .replace(/(?<=^|\s)\.\/(?<script>scripts\/[\w.-]+)/, (_, script) => pathFrom(folder, script))
    .replace(/^ratelimit-bench(?= )/, `node ${pathFrom(folder, "dist/orchestrator/cli.js")}`);
}

/** The command that continues the campaign in a folder, as it is started from here. */
export const resumeCommand = (folder: string): string =>
  runnableIn(
    `${CAMPAIGN_COMMAND} --resume ${shellWord(basename(folder))} --output ${shellWord(displayPath(dirname(folder)))}`,
  );

/** A word with its quoted parts whole. A flag and its value are one piece. */
const WORD = String.raw`(?:'[^']*'|\\.|[^\s'\\])+`;
const PIECE = new RegExp(`--${WORD}(?: (?!--)${WORD})?|${WORD}`, "g");

/**
 * Breaks a command line into lines that a shell joins again. A piece that is wider than a line
 * stays whole.
 */
export function wrapCommand(command: string, columns: number): string[] {
  const lines: string[] = [];
  for (const piece of command.match(PIECE) ?? []) {
    const last = lines.at(-1);
    const joined = `${last} ${piece}`;
    if (last === undefined) lines.push(piece);
    else if (widthOf(joined) + 2 <= columns) lines[lines.length - 1] = joined;
    else lines.push(`  ${piece}`);
  }
  return lines.map((line, index) => (index < lines.length - 1 ? `${line} \\` : line));
}
