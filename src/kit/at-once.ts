/**
 * Works on all items, at most so many at once, in their order. Once one fails no other is begun, and
 * those under way are waited for, so that none goes on unnoticed.
 * @throws the first failure
 */
export async function forEachAtOnce<Item>(
  items: Iterable<Item>,
  count: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  // A generator ends for all that take from it once one of them fails.
  const queue = (function* () {
    yield* items;
  })();
  const workThrough = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  const lanes = Array.from({ length: count }, workThrough);
  await Promise.allSettled(lanes);
  await Promise.all(lanes);
}
