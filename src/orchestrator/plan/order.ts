import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/**
 * Spreads a seed over all its bits (the finalizer of MurmurHash3, A. Appleby): the generator's first numbers follow
 * its seed in a line, so that seeds in a row would give orders in a row.
 */
function spread(seed: number): number {
  let bits = seed | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

/**
 * The things in a random order that the seed decides: Fisher–Yates (Durstenfeld, CACM 7(7), 1964).
 * @param seed a whole number; the same one gives the same order
 */
export function shuffled<Thing>(things: readonly Thing[], seed: number): Thing[] {
  const generator = xoroshiro128plus(spread(seed));
  const pool = [...things];
  const order: Thing[] = [];
  while (pool.length > 0) order.push(...pool.splice(uniformInt(generator, 0, pool.length - 1), 1));
  return order;
}
