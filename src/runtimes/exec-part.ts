import type { LineClient, PartOutput } from "./part-output.js";
import type { RunDelays } from "./run-delay.js";
import type { Exit, Part, PartCounters, RunningPart } from "./runtime-types.js";

/**
 * A short or interactive process in the container of another part. It has no address and no counters
 * of its own.
 */
export abstract class ExecutedPart implements RunningPart {
  readonly role: string;
  readonly address = { host: "", port: 0 };
  readonly onThisMachine = false;
  readonly machine?: string;
  readonly ask?: (line: string) => Promise<string | undefined>;
  abstract readonly exited: Promise<Exit>;
  protected readonly client: LineClient | undefined;
  readonly #output: PartOutput;

  constructor(
    part: Part,
    machine: string | undefined,
    output: PartOutput,
    client: LineClient | undefined,
  ) {
    this.role = part.role;
    if (machine !== undefined) this.machine = machine;
    this.#output = output;
    this.client = client;
    if (client) this.ask = (line) => client.request(line);
  }

  abstract stop(): Promise<void>;

  async output(): Promise<string> {
    await this.exited;
    return this.#output.stdoutText();
  }

  onLine(listener: (line: string) => void): void {
    this.#output.onLine(listener);
  }

  lastLines(): readonly string[] {
    return this.#output.lastLines();
  }

  counters(): Promise<PartCounters> {
    throw new Error("a process in another part's container has no counters");
  }

  async runDelays(): Promise<RunDelays | undefined> {
    return undefined;
  }
}
