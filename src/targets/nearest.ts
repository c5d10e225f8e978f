import { distance } from "fastest-levenshtein";
import { usageError } from "../contract/errors.js";

/** The end of an error message: what was probably meant, and what is valid. */
export function nearest(word: string, valid: readonly string[]): string {
  const close = valid
    .map((candidate) => ({ candidate, edits: distance(word.slice(0, 60), candidate) }))
    .filter(({ candidate, edits }) => edits <= Math.max(2, candidate.length / 3))
    .sort((a, b) => a.edits - b.edits)[0];
  return `${close ? ` (did you mean ${close.candidate}?)` : ""}; valid: ${valid.join(", ")}`;
}

/** @throws usageError with the nearest valid word */
export function known(what: string, word: string, valid: readonly string[]): void {
  if (valid.includes(word)) return;
  throw usageError(`there is no ${what} ${JSON.stringify(word.slice(0, 60))}${nearest(word, valid)}`);
}
