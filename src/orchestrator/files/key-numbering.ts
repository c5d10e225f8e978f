import { randomBytes } from "node:crypto";
import { spreadSeed as mixed } from "../../traffic/shuffle.js";

/**
 * Numbers texts by first appearance. It keeps salted hashes of 64 bits instead of the texts: a
 * million of them take 24 MB, and who knows the salt of one file learns nothing about another.
 */
export class KeyNumbering {
  readonly #salt = randomBytes(8);
  readonly #seeds = [this.#salt.readUInt32LE(0), this.#salt.readUInt32LE(4)] as const;
  #size = 1 << 16;
  #hashes = new Uint32Array(2 * this.#size);
  #numbers = new Uint32Array(this.#size);
  count = 0;

  numberOf(text: string): number {
    let [one, other]: [number, number] = [...this.#seeds];
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      one = Math.imul(one ^ code, 0x85ebca6b);
      one = (one << 13) | (one >>> 19);
      other = Math.imul(other ^ code, 0xc2b2ae35);
      other = (other << 15) | (other >>> 17);
    }
    one = mixed(one ^ text.length) >>> 0;
    other = mixed(other ^ one) >>> 0;
    const place = this.#placeOf(one, other);
    const known = this.#numbers[place] ?? 0;
    if (known > 0) return known - 1;
    this.#hashes[2 * place] = one;
    this.#hashes[2 * place + 1] = other;
    this.#numbers[place] = ++this.count;
    if (2 * this.count > this.#size) this.#grow();
    return this.count - 1;
  }

  #placeOf(one: number, other: number): number {
    for (let place = one & (this.#size - 1); ; place = (place + 1) & (this.#size - 1)) {
      if (this.#numbers[place] === 0) return place;
      if (this.#hashes[2 * place] === one && this.#hashes[2 * place + 1] === other) return place;
    }
  }

  #grow(): void {
    const [hashes, numbers] = [this.#hashes, this.#numbers];
    this.#size *= 2;
    this.#hashes = new Uint32Array(2 * this.#size);
    this.#numbers = new Uint32Array(this.#size);
    for (const [old, number] of numbers.entries()) {
      if (number === 0) continue;
      const [one = 0, other = 0] = [hashes[2 * old], hashes[2 * old + 1]];
      const place = this.#placeOf(one, other);
      this.#hashes[2 * place] = one;
      this.#hashes[2 * place + 1] = other;
      this.#numbers[place] = number;
    }
  }
}
