import { RELAY_LISTENS, type RelayMode, relayLine } from "../../contract/relay.js";
import { within } from "../../kit/deadline.js";
import type { RunningPart } from "../../runtimes/runtime-types.js";

/** How long a relay may take to confirm its mode. */
const ANSWERS_WITHIN_MS = 5_000;

/** A running relay, which stands between the servers and a store node. */
export class RelayControl {
  readonly #part: RunningPart;
  /** Lines that it is to print, each with who waits for it. */
  readonly #awaited: { line: string; seen(): void }[] = [];
  /** Resolves when it accepts connections. @throws Error when it does not in time */
  readonly listening: Promise<void>;

  constructor(part: RunningPart) {
    this.#part = part;
    this.listening = this.#line(RELAY_LISTENS);
    // What it has printed so far comes at once.
    part.onLine((line) => this.#read(line));
  }

  /** Resolves when the relay does so. @throws Error when it does not in time */
  async set(mode: RelayMode): Promise<void> {
    const line = relayLine(mode);
    const seen = this.#line(line);
    this.#part.write?.(line);
    await seen;
  }

  #read(line: string): void {
    const index = this.#awaited.findIndex((awaited) => awaited.line === line);
    if (index < 0) return;
    const [awaited] = this.#awaited.splice(index, 1);
    awaited?.seen();
  }

  /** Resolves when the relay prints this line. @throws Error when it does not in time */
  #line(line: string): Promise<void> {
    const seen = new Promise<void>((resolve) => this.#awaited.push({ line, seen: resolve }));
    return within(
      seen,
      ANSWERS_WITHIN_MS,
      () => `${this.#part.role} did not say "${line}" in time`,
    );
  }
}
