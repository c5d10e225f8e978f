import { rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../contract/errors.js";
import type { Part, RunningPart, Runtime } from "../runtimes/types.js";
import { writeWhole } from "./results-dir.js";
import { type LeaseFile, leasesFolder, makeStateFolder, thisOwner } from "./state.js";

/**
 * Owns all that a campaign has started and gives it back in reverse order. What it holds stands in a file, so that
 * the next start can clean up after a campaign that was killed.
 */
export class Lease {
  readonly #parts: RunningPart[] = [];
  readonly #starts = new Set<Promise<RunningPart>>();
  readonly #path: string;
  readonly #file: Omit<LeaseFile, "parts">;
  #closed = false;
  #written: Promise<void> = Promise.resolve();

  private constructor(path: string, file: Omit<LeaseFile, "parts">) {
    this.#path = path;
    this.#file = file;
  }

  static async open(campaign: string, runtime: string, workFolder: string): Promise<Lease> {
    await makeStateFolder(leasesFolder());
    const owner = await thisOwner(campaign);
    const lease = new Lease(join(leasesFolder(), `${campaign}-${process.pid}.json`), {
      owner,
      runtime,
      workFolder,
    });
    await lease.#write();
    return lease;
  }

  /** Starts a part and owns it from the moment that it exists, ready or not. */
  async start(runtime: Runtime, part: Part): Promise<RunningPart> {
    const start = this.#start(runtime, part);
    this.#starts.add(start);
    try {
      return await start;
    } finally {
      this.#starts.delete(start);
    }
  }

  async #start(runtime: Runtime, part: Part): Promise<RunningPart> {
    this.#refuseIfClosed(part);
    const begun: RunningPart[] = [];
    try {
      return await runtime.start(part, async (running) => {
        begun.push(running);
        this.#parts.push(running);
        this.#refuseIfClosed(part);
        await this.#write();
      });
    } catch (error) {
      await this.release(begun);
      throw error;
    }
  }

  /** A part that comes up while everything is being given back must not stay. */
  #refuseIfClosed({ role }: Part): void {
    if (this.#closed) throw new Error(`${role} came too late: everything is being given back`);
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
    // A part that cannot be stopped gets a second chance below, which then tells.
    await this.release([...this.#parts]).catch(() => {});
    // What was between its start and its first word is refused by now, and stopped.
    await Promise.allSettled(this.#starts);
    await this.release([...this.#parts]);
    await this.#written.catch(() => {});
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
