import type { LineClient } from "./line-client.js";
import type { RunDelays } from "./run-delay.js";
import type { Exit, Part, PartCounters, RunningPart } from "./types.js";

/** A short or interactive process in the container of another part: it has no address and no counters of its own. */
export abstract class ExecutedPart implements RunningPart {
  readonly role: string;
  readonly address = { host: "", port: 0 };
  readonly onThisMachine = false;
  readonly machine?: string;
  readonly ask?: (line: string) => Promise<string | undefined>;
  abstract readonly exited: Promise<Exit>;
  protected readonly client: LineClient | undefined;
  readonly #printed: Pick<RunningPart, "onLine" | "lastLines">;

  constructor(
    part: Part,
    machine: string | undefined,
    printed: Pick<RunningPart, "onLine" | "lastLines">,
    client: LineClient | undefined,
  ) {
    this.role = part.role;
    if (machine !== undefined) this.machine = machine;
    this.#printed = printed;
    this.client = client;
    if (client) this.ask = (line) => client.request(line);
  }

  abstract output(): Promise<string>;
  abstract stop(): Promise<void>;

  onLine(listener: (line: string) => void): void {
    this.#printed.onLine(listener);
  }

  lastLines(): readonly string[] {
    return this.#printed.lastLines();
  }

  counters(): Promise<PartCounters> {
    throw new Error("a process in another part's container has no counters");
  }

  async runDelays(): Promise<RunDelays | undefined> {
    return undefined;
  }
}
