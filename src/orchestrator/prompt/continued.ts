import { widthOf } from "../screen/layout.js";

/** A word of a command line, its quoted parts whole. */
const WORD = /(?:'[^']*'|\\.|[^\s'\\])+/g;

/** A command line over as many lines as it needs, as a shell reads it; a word that is wider than that stays whole. */
export function continued(command: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of command.match(WORD) ?? []) {
    const last = lines.at(-1);
    const joined = `${last} ${word}`;
    if (last === undefined) lines.push(word);
    else if (widthOf(joined) + 2 <= columns) lines[lines.length - 1] = joined;
    else lines.push(`  ${word}`);
  }
  return lines.map((line, index) => (index < lines.length - 1 ? `${line} \\` : line));
}
