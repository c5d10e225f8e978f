import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { shellQuoted } from "./shell-words.js";

const packageFolder = fileURLToPath(new URL("../..", import.meta.url));
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

/** A written command of a checkout as the installed package has it, which has no such script. */
export const installedForm = (command: string): string =>
  command.replace(/(?<=^|\s)\.\/scripts\/run-all\.sh(?=\s|$)/, "ratelimit-bench run");

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
