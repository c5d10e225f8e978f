import { within } from "../../contract/deadline.js";
import { RELAY_LISTENS, type RelayMode, relayLine } from "../../contract/relay.js";
import type { RunningPart } from "../../runtimes/types.js";

/** How long a relay may take to do as it is told. */
const ANSWERS_WITHIN_MS = 5_000;

/** A running relay, which stands between the servers and a store node. */
export class RelayControl {
  readonly #part: RunningPart;
  /** Lines that it is to print, each with who waits for it. */
  readonly #awaited: { line: string; seen(): void }[] = [];
  readonly #listening: Promise<void>;

  constructor(part: RunningPart) {
    this.#part = part;
    this.#listening = this.#line(RELAY_LISTENS);
    // What it has printed so far comes at once.
    part.onLine((line) => {
      const index = this.#awaited.findIndex((each) => each.line === line);
      if (index >= 0) this.#awaited.splice(index, 1)[0]?.seen();
    });
  }

  /** Resolves when it accepts connections. @throws Error when it does not in time */
  listening(): Promise<void> {
    return this.#listening;
  }

  /** Resolves when it is so. @throws Error when it is not in time */
  async set(mode: RelayMode): Promise<void> {
    const line = relayLine(mode);
    const seen = this.#line(line);
    this.#part.write?.(line);
    await seen;
  }

  #line(line: string): Promise<void> {
    const seen = new Promise<void>((resolve) => this.#awaited.push({ line, seen: resolve }));
    return within(seen, ANSWERS_WITHIN_MS, () => `${this.#part.role} did not say "${line}" in time`);
  }
}
