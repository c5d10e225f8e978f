import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../contract/errors.js";
import type { Part, RunningPart, Runtime } from "../runtimes/types.js";
import { writeWhole } from "./results-dir.js";
import { type LeaseFile, leasesFolder, thisOwner } from "./state.js";

/**
 * Owns all that a campaign has started and gives it back in reverse order. What it holds stands in a file, so that
 * the next start can clean up after a campaign that was killed.
 */
export class Lease {
  readonly #parts: RunningPart[] = [];
  readonly #path: string;
  readonly #file: Omit<LeaseFile, "parts">;
  #closed = false;
  #written: Promise<void> = Promise.resolve();

  private constructor(path: string, file: Omit<LeaseFile, "parts">) {
    this.#path = path;
    this.#file = file;
  }

  static async open(campaign: string, runtime: string, workFolder: string): Promise<Lease> {
    await mkdir(leasesFolder(), { recursive: true });
    const owner = await thisOwner(campaign);
    const lease = new Lease(join(leasesFolder(), `${campaign}-${process.pid}.json`), {
      owner,
      runtime,
      workFolder,
    });
    await lease.#write();
    return lease;
  }

  /** Starts a part and owns it from then on. */
  async start(runtime: Runtime, part: Part): Promise<RunningPart> {
    const running = await runtime.start(part);
    this.#parts.push(running);
    // A part that came up while everything was being given back must not stay.
    if (this.#closed) await this.release([running]);
    else await this.#write();
    return running;
  }

  /** Gives some parts back, the last started first. @throws AggregateError when some could not be stopped */
  async release(parts: readonly RunningPart[]): Promise<void> {
    const failures: unknown[] = [];
    for (const part of [...parts].reverse()) {
      try {
        await part.stop();
        const index = this.#parts.indexOf(part);
        if (index >= 0) this.#parts.splice(index, 1);
      } catch (error) {
        failures.push(new Error(`${part.role}: ${messageOf(error)}`, { cause: error }));
      }
    }
    if (!this.#closed) await this.#write();
    if (failures.length > 0) {
      throw new AggregateError(failures, `could not be stopped: ${failures.map(messageOf).join("; ")}`);
    }
  }

  /** Gives everything back, and the work folder with it. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.release([...this.#parts]);
    await rm(this.#file.workFolder, { recursive: true, force: true });
    await rm(this.#path, { force: true });
  }

  /** Parts start side by side; their writes come one after the other, each with what is held by then. */
  #write(): Promise<void> {
    const before = this.#written.catch(() => {});
    this.#written = before.then(() => {
      const file: LeaseFile = { ...this.#file, parts: this.#parts.map(({ identity }) => identity) };
      return writeWhole(this.#path, JSON.stringify(file));
    });
    return this.#written;
  }
}
