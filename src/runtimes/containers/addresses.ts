const BITS = 32;

const numberOf = (address: string): number =>
  address.split(".").reduce((total, byte) => total * 256 + Number(byte), 0);
const textOf = (address: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");

/** The first addresses of a network are left to the engine, e.g. for its gateway. */
const FIRST = 10;

export class Addresses {
  readonly #first: number;
  readonly #count: number;
  readonly #used = new Set<string>();
  #next = 0;

  /** @param subnet e.g. `172.18.0.0/16` @throws Error for one that is not IPv4, or has no room */
  constructor(subnet: string) {
    const [base = "", prefix = ""] = subnet.split("/");
    this.#first = numberOf(base) + FIRST;
    // The last one is that of the broadcast.
    this.#count = 2 ** (BITS - Number(prefix)) - FIRST - 1;
    if (!Number.isInteger(this.#first) || !(this.#count > 0)) throw new Error(`no addresses in ${subnet}`);
  }

  /** One that no part has. It is not the one that was given back last: others may remember it. */
  take(): string {
    for (let attempt = 0; attempt < this.#count; attempt++) {
      const address = textOf(this.#first + this.#next);
      this.#next = (this.#next + 1) % this.#count;
      if (this.#used.has(address)) continue;
      this.#used.add(address);
      return address;
    }
    throw new Error("the network has no address left");
  }

  giveBack(address: string): void {
    this.#used.delete(address);
  }
}
