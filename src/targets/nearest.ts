import { distance } from "fastest-levenshtein";

/** The end of an error message: what was probably meant, and what is valid. */
export function nearest(word: string, valid: readonly string[]): string {
  const close = valid
    .map((candidate) => ({ candidate, edits: distance(word.slice(0, 60), candidate) }))
    .filter(({ candidate, edits }) => edits <= Math.max(2, candidate.length / 3))
    .sort((a, b) => a.edits - b.edits)[0];
  return `${close ? ` (did you mean ${close.candidate}?)` : ""}; valid: ${valid.join(", ")}`;
}
