import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/**
 * Spreads a seed over all its bits (the finalizer of MurmurHash3, A. Appleby). Without it,
 * consecutive seeds would give similar orders, since the generator's first numbers depend linearly
 * on its seed.
 */
export function spreadSeed(seed: number): number {
  let bits = seed | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

export interface Shuffler {
  /**
   * Returns another random order with each call, by Fisher and Yates (Durstenfeld, CACM 7(7),
   * 1964).
   */
  shuffle<Item>(items: readonly Item[]): Item[];
  /** Returns a number that is evenly distributed from 0 to below 1. */
  share(): number;
}

export function shuffler(seed: number): Shuffler {
  const generator = xoroshiro128plus(spreadSeed(seed));
  return {
    shuffle(items) {
      const pool = [...items];
      const order: typeof pool = [];
      while (pool.length > 0)
        order.push(...pool.splice(uniformInt(generator, 0, pool.length - 1), 1));
      return order;
    },
    share: () => uniformFloat64(generator),
  };
}
