import { usageError } from "../contract/errors.js";

/**
 * Adds what a plugin brings to one of the project's lists. They are read-only to everybody else: this runs at the start
 * of a program, before anything reads them, and never again.
 * @param reserved further ids that would be ambiguous
 * @throws usageError when the id is taken
 */
export function add<Thing extends { id: string }>(
  plugin: string,
  what: string,
  list: readonly Thing[],
  thing: Thing,
  reserved: readonly string[] = [],
): void {
  if ([...list.map(({ id }) => id), ...reserved].includes(thing.id)) {
    throw usageError(`plugin ${plugin}: the ${what} ${thing.id} is there already: give yours another id`);
  }
  (list as Thing[]).push(thing);
}
