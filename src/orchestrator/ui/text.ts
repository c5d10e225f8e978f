import truncatedWidth from "fast-string-truncated-width";

/** Formats rows of cells as lines with aligned columns. All rows have the same number of cells. */
export function textTable(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** The verb for a count: `1 run is`, `3 runs are`. */
export const are = (count: number): string => (count === 1 ? "is" : "are");

/** A count with its noun, e.g. `1 run` or `3 runs`. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A duration such as `45 s`, `12 min` or `2 h 05 min`. */
export function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** How many columns of a terminal a text takes. */
export const widthOf = (text: string): number => truncatedWidth(text).width;

/** A text of at most so many columns; one that is cut ends with `…`. */
export function truncate(text: string, columns: number): string {
  const { truncated, ellipsed, index } = truncatedWidth(text, {
    limit: Math.max(0, columns),
    ellipsis: "…",
    ellipsisWidth: 1,
  });
  if (truncated) return text.slice(0, index) + (ellipsed ? "…" : "");
  return text;
}

/**
 * Puts pieces side by side, on as many lines as they need. Pieces longer than a line are truncated.
 */
export function flow(
  pieces: readonly string[],
  columns: number,
  indent = "",
  between = "  ",
): string[] {
  const lines: string[] = [];
  for (const piece of pieces) {
    const last = lines.at(-1);
    const joined = last === undefined ? undefined : `${last}${between}${piece}`;
    if (joined !== undefined && widthOf(joined) <= columns) lines[lines.length - 1] = joined;
    else lines.push(truncate(`${indent}${piece}`, columns));
  }
  return lines;
}

/**
 * Breaks a text between words. Later lines are indented like the first one, plus `indent`. A word
 * that is longer than a line, e.g. a path, stays whole so that it can be copied.
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

/** A progress bar, `[#####-----]`. ASCII looks the same in every locale. */
export function bar(share: number, columns: number): string {
  const inner = Math.max(1, columns - 2);
  const full = Math.round(Math.min(1, Math.max(0, share)) * inner);
  return `[${"#".repeat(full)}${"-".repeat(inner - full)}]`;
}

/**
 * Characters that a terminal or a log interprets instead of showing: C0 and C1 controls, DEL, line
 * and paragraph separators, and changes of text direction. A name that contains them could forge or
 * hide lines.
 */
const CONTROLS = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const hexCodeOf = (character: string): string => (character.codePointAt(0) ?? 0).toString(16);

/** A text whose control characters, line breaks included, are shown as `\x1b` or `\u2028`. */
export const escapeControls = (text: string): string =>
  text.replaceAll(CONTROLS, (character) =>
    character < "\u0100"
      ? `\\x${hexCodeOf(character).padStart(2, "0")}`
      : `\\u${hexCodeOf(character).padStart(4, "0")}`,
  );

/** Escapes control characters, but keeps the breaks between lines. */
export const escapeControlsInLines = (text: string): string =>
  text.split(/\r?\n/).map(escapeControls).join("\n");

/** A value as JSON on one line, with control characters as `\u001b`. */
export const escapedJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    CONTROLS,
    (character) => `\\u${hexCodeOf(character).padStart(4, "0")}`,
  );
