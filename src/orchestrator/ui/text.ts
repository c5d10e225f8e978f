import truncatedWidth from "fast-string-truncated-width";
/** Rows of cells as lines with columns that stand under each other. All rows have as many cells. */
export function textTable(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** The verb of so many: `1 run is`, `3 runs are`. */
export const are = (count: number): string => (count === 1 ? "is" : "are");

/** `1 run`, `3 runs`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** `45 s`, `12 min`, `2 h 05 min`. */
export function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** Columns that a text takes on a terminal: wide characters take two. */
export const widthOf = (text: string): number => truncatedWidth(text).width;

/** The text in at most so many columns; what is cut off is said by `…`. */
export function cut(text: string, columns: number): string {
  const { truncated, ellipsed, index } = truncatedWidth(text, {
    limit: Math.max(0, columns),
    ellipsis: "…",
    ellipsisWidth: 1,
  });
  if (truncated) return text.slice(0, index) + (ellipsed ? "…" : "");
  return text;
}

/** Pieces side by side, on as many lines as they need; a piece that is too long for a line is cut. */
export function flow(pieces: readonly string[], columns: number, indent = "", between = "  "): string[] {
  const lines: string[] = [];
  for (const piece of pieces) {
    const last = lines.at(-1);
    const joined = last === undefined ? undefined : `${last}${between}${piece}`;
    if (joined !== undefined && widthOf(joined) <= columns) lines[lines.length - 1] = joined;
    else lines.push(cut(`${indent}${piece}`, columns));
  }
  return lines;
}

/**
 * A text on as many lines as it needs, broken between words; later lines are indented as the first one and by `indent`
 * more. A word that is longer than a line, e.g. a path, stays whole: it is there to be copied, the terminal breaks it.
 */
export function wrap(text: string, columns: number, indent = "  "): string[] {
  const margin = /^ */.exec(text)?.[0] ?? "";
  const lines: string[] = [];
  for (const word of text.trimStart().split(" ")) {
    const last = lines.at(-1);
    const joined = `${last} ${word}`;
    if (last === undefined) lines.push(margin + word);
    else if (widthOf(joined) <= columns) lines[lines.length - 1] = joined;
    else lines.push(margin + indent + word);
  }
  return lines;
}

/** `[#####-----]`, in so many columns. Plain characters, so that it looks alike in every locale. */
export function bar(share: number, columns: number): string {
  const inner = Math.max(1, columns - 2);
  const full = Math.round(Math.min(1, Math.max(0, share)) * inner);
  return `[${"#".repeat(full)}${"-".repeat(inner - full)}]`;
}

/**
 * Characters that a terminal or a log would obey instead of show: C0 and C1 controls, DEL, line and paragraph
 * separators, and those that turn the direction of text. A name that holds them could forge lines or hide others.
 */
const OBEYED = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const code = (character: string): string => (character.codePointAt(0) ?? 0).toString(16);

/** The text on one line, as characters to look at: what would be obeyed becomes `\x1b`, `\u202e`. */
export const plain = (text: string): string =>
  text.replaceAll(OBEYED, (character) =>
    character < "\u0100"
      ? `\\x${code(character).padStart(2, "0")}`
      : `\\u${code(character).padStart(4, "0")}`,
  );

/** The same for text of several lines, e.g. a stack. */
export const plainLines = (text: string): string => text.split(/\r?\n/).map(plain).join("\n");

/** JSON on one line that says the same to a parser and nothing to a terminal. */
export const plainJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(OBEYED, (character) => `\\u${code(character).padStart(4, "0")}`);
