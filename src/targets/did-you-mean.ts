import { distance } from "fastest-levenshtein";
import { usageError } from "../kit/errors.js";

/**
 * With more words than this, the nearest one stands alone: a line that nobody can read helps
 * nobody.
 */
const MOST_LISTED = 40;

/** A list of words is cut at this length, for the same reason. */
const MOST_CHARACTERS = 300;

function listText(words: readonly string[]): string {
  let count = words.length;
  while (words.slice(0, count).join(", ").length > MOST_CHARACTERS) count--;
  const listed = words.slice(0, count).join(", ");
  return count < words.length ? `${listed} and ${words.length - count} more` : listed;
}

export function didYouMean(word: string, valid: readonly string[]): string {
  const close = valid
    .map((candidate) => ({ candidate, edits: distance(word.slice(0, 60), candidate) }))
    .filter(({ candidate, edits }) => edits <= Math.max(2, candidate.length / 3))
    .sort((a, b) => a.edits - b.edits)[0];
  const validNames = `; valid: ${listText(valid)}`;
  if (!close) return validNames;
  return ` (did you mean ${close.candidate}?)${valid.length > MOST_LISTED ? "; --help lists all" : validNames}`;
}

export const requireKnown = (kind: string, word: string, valid: readonly string[]): unknown =>
  valid.includes(word) ||
  findKnown(
    kind,
    valid.map((id) => ({ id })),
    word,
  );

export function findKnown<Thing extends { id: string }>(
  kind: string,
  list: readonly Thing[],
  id: string,
): Thing {
  const thing = list.find((entry) => entry.id === id);
  if (thing) return thing;
  const valid = list.map((thing) => thing.id);
  throw usageError(
    `there is no ${kind} ${JSON.stringify(id.slice(0, 60))}${didYouMean(id, valid)}`,
  );
}
