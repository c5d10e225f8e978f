import truncatedWidth from "fast-string-truncated-width";

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
