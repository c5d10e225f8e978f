import { basename, dirname } from "node:path";
import { CAMPAIGN_COMMAND, runnableIn, shellWord } from "../../kit/command-text.js";
import { displayPath } from "../../kit/display-path.js";
import { widthOf } from "./text.js";

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
