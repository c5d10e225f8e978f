import { widthOf } from "../ui/layout.js";

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
