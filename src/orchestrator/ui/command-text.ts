import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { shellQuoted } from "../../kit/shell-words.js";
import { widthOf } from "./text.js";

const isCheckout = existsSync(
  fileURLToPath(new URL("../../../scripts/run-all.sh", import.meta.url)),
);

/**
 * The command that starts a campaign: the script in a checkout; the installed package has no
 * scripts.
 */
export const CAMPAIGN_COMMAND = isCheckout ? "./scripts/run-all.sh" : "ratelimit-bench run";
export const HELP_COMMAND = isCheckout ? `${CAMPAIGN_COMMAND} help` : "ratelimit-bench help";
export const REPORT_COMMAND = isCheckout
  ? "./scripts/generate_report.py"
  : "ratelimit-bench report";
export const CAMPAIGN_NAME = isCheckout ? "run-all.sh" : CAMPAIGN_COMMAND;

/** A word of a command line, quoted only where a shell would read it otherwise. */
export const shellWord = (word: string): string =>
  /^[\w@:+.,/=-]+$/.test(word) ? word : shellQuoted(word);

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
