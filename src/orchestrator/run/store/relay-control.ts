import { RELAY_LISTENS, type RelayMode, relayLine } from "../../../contract/relay.js";
import { within } from "../../../kit/deadline.js";
import type { RunningPart } from "../../../runtimes/runtime-types.js";

/** How long a relay may take to confirm its mode. */
const ANSWERS_WITHIN_MS = 5_000;

/** A running relay, which stands between the servers and a store node. */
export class RelayControl {
  readonly #part: RunningPart;
  /** The lines that somebody waits for, each with a function that ends the wait. */
  readonly #expectedLines: { line: string; resolve(): void }[] = [];
  /** Resolves when the relay accepts connections, and rejects where it does not in time. */
  readonly listening: Promise<void>;

  constructor(part: RunningPart) {
    this.#part = part;
    this.listening = this.#line(RELAY_LISTENS);
    // Lines that the relay has printed so far come at once.
    part.onLine((line) => this.#read(line));
  }

  /** Sets the mode, and waits until the relay is in it. @throws Error where it is not in time */
  async set(mode: RelayMode): Promise<void> {
    const line = relayLine(mode);
    const confirmation = this.#line(line);
    this.#part.write?.(line);
    await confirmation;
  }

  #read(line: string): void {
    const index = this.#expectedLines.findIndex((expected) => expected.line === line);
    if (index < 0) return;
    const [expected] = this.#expectedLines.splice(index, 1);
    expected?.resolve();
  }

  /** Waits until the relay prints this line. @throws Error where it does not in time */
  #line(line: string): Promise<void> {
    const printed = new Promise<void>((resolve) => this.#expectedLines.push({ line, resolve }));
    const lateText = () => `${this.#part.role} did not say "${line}" in time`;
    return within(printed, ANSWERS_WITHIN_MS, lateText);
  }
}
