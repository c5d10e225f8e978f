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
