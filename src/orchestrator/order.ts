import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/**
 * The things in a random order that the seed decides: Fisher–Yates (Durstenfeld, CACM 7(7), 1964).
 * @param seed a whole number; the same one gives the same order
 */
export function shuffled<Thing>(things: readonly Thing[], seed: number): Thing[] {
  const generator = xoroshiro128plus(seed);
  const pool = [...things];
  const order: Thing[] = [];
  while (pool.length > 0) order.push(...pool.splice(uniformInt(generator, 0, pool.length - 1), 1));
  return order;
}
