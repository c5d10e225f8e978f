import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { widthOf } from "./text.js";

const isCheckout = existsSync(fileURLToPath(new URL("../../../scripts/run-all.sh", import.meta.url)));

/** How a campaign is called: by the script of a checkout, or by the command of a package, which has no such script. */
export const CAMPAIGN_COMMAND = isCheckout ? "./scripts/run-all.sh" : "ratelimit-bench run";
/** How a report is built again, likewise. */
export const REPORT_COMMAND = isCheckout ? "./scripts/generate_report.py" : "ratelimit-bench report";
/** A campaign in help texts. */
export const CAMPAIGN_NAME = isCheckout ? "run-all.sh" : CAMPAIGN_COMMAND;

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[\w@:+.,/=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** A word of a command line, its quoted parts whole, and a flag with its value. */
const WORD = String.raw`(?:'[^']*'|\\.|[^\s'\\])+`;
const PIECE = new RegExp(`--${WORD}(?: (?!--)${WORD})?|${WORD}`, "g");

/** A command line over as many lines as it needs, as a shell reads it; what is wider than a line stays whole. */
export function continued(command: string, columns: number): string[] {
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
