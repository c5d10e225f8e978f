import { distance } from "fastest-levenshtein";
import { usageError } from "../contract/errors.js";

/** The end of an error message: the nearest valid word, and all valid words. */
export function didYouMean(word: string, valid: readonly string[]): string {
  const close = valid
    .map((candidate) => ({ candidate, edits: distance(word.slice(0, 60), candidate) }))
    .filter(({ candidate, edits }) => edits <= Math.max(2, candidate.length / 3))
    .sort((a, b) => a.edits - b.edits)[0];
  return `${close ? ` (did you mean ${close.candidate}?)` : ""}; valid: ${valid.join(", ")}`;
}

/** @throws usageError that suggests the nearest valid word */
export function requireKnown(kind: string, word: string, valid: readonly string[]): void {
  if (valid.includes(word)) return;
  throw usageError(`there is no ${kind} ${JSON.stringify(word.slice(0, 60))}${didYouMean(word, valid)}`);
}
