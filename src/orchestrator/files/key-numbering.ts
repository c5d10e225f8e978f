import { randomBytes } from "node:crypto";
import { spreadSeed } from "../../traffic/shuffle.js";

/** A salted hash of 64 bits, as two unsigned numbers of 32 bits. */
type KeyHash = readonly [low: number, high: number];

/**
 * Numbers texts by first appearance, in an open hash table. It keeps salted hashes of 64 bits
 * instead of the texts: a million of them take 24 MB, and whoever knows the salt of one file learns
 * nothing about another.
 */
export class KeyNumbering {
  readonly #salt = randomBytes(8);
  readonly #seeds: KeyHash = [this.#salt.readUInt32LE(0), this.#salt.readUInt32LE(4)];
  /** The number of slots, a power of two. */
  #size = 1 << 16;
  /** The two halves of the hash in each slot. */
  #hashes = new Uint32Array(2 * this.#size);
  /** The number of the text in each slot, plus 1; 0 in an empty slot. */
  #numbers = new Uint32Array(this.#size);
  /** How many different texts were numbered. */
  count = 0;

  /** The number of a text, from 0 on. */
  numberOf(text: string): number {
    const keyHash = this.#hashOf(text);
    const slot = this.#slotOf(keyHash);
    const storedNumber = this.#numbers[slot] ?? 0;
    if (storedNumber > 0) return storedNumber - 1;

    this.count++;
    this.#store(slot, keyHash, this.count);
    if (2 * this.count > this.#size) this.#grow();
    return this.count - 1;
  }

  #hashOf(text: string): KeyHash {
    let [low, high] = this.#seeds;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      low = Math.imul(low ^ code, 0x85ebca6b);
      low = (low << 13) | (low >>> 19);
      high = Math.imul(high ^ code, 0xc2b2ae35);
      high = (high << 15) | (high >>> 17);
    }
    low = spreadSeed(low ^ text.length) >>> 0;
    high = spreadSeed(high ^ low) >>> 0;
    return [low, high];
  }

  /** The slot that holds a hash, or the empty one where it belongs. */
  #slotOf([low, high]: KeyHash): number {
    for (let slot = low & (this.#size - 1); ; slot = (slot + 1) & (this.#size - 1)) {
      if (this.#numbers[slot] === 0) return slot;
      if (this.#hashes[2 * slot] === low && this.#hashes[2 * slot + 1] === high) return slot;
    }
  }

  #store(slot: number, [low, high]: KeyHash, number: number): void {
    this.#hashes[2 * slot] = low;
    this.#hashes[2 * slot + 1] = high;
    this.#numbers[slot] = number;
  }

  #grow(): void {
    const hashes = this.#hashes;
    const numbers = this.#numbers;
    this.#size *= 2;
    this.#hashes = new Uint32Array(2 * this.#size);
    this.#numbers = new Uint32Array(this.#size);
    for (const [oldSlot, number] of numbers.entries()) {
      if (number === 0) continue;
      const keyHash: KeyHash = [hashes[2 * oldSlot] ?? 0, hashes[2 * oldSlot + 1] ?? 0];
      this.#store(this.#slotOf(keyHash), keyHash, number);
    }
  }
}
