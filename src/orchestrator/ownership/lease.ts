import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { BenchError, EXIT, environmentError, messageOf } from "../../contract/errors.js";
import { startTimeOf } from "../../runtimes/processes.js";
import type { Part, ProcessIdentity, RunningPart, Runtime } from "../../runtimes/types.js";
import { writeAtomically } from "../files/results-folder.js";
import { type LeaseFile, leasesFolder, makeStateFolder, thisOwner, WORK_FOLDER } from "./state-folder.js";

/**
 * Owns all that a campaign has started and gives it back in reverse order. What it holds stands in a file, so that
 * the next start can clean up after a campaign that was killed. It is there before anything else is.
 */
export class Lease {
  readonly #parts: RunningPart[] = [];
  readonly #helpers: ProcessIdentity[] = [];
  readonly #starts = new Set<Promise<RunningPart>>();
  readonly #path: string;
  #file: Omit<LeaseFile, "processes">;
  #closed = false;
  #written: Promise<void> = Promise.resolve();

  private constructor(path: string, file: Omit<LeaseFile, "processes">) {
    this.#path = path;
    this.#file = file;
  }

  static async open(campaign: string): Promise<Lease> {
    await makeStateFolder(leasesFolder());
    const owner = await thisOwner(campaign);
    const workFolder = resolve(tmpdir(), `${WORK_FOLDER}${randomBytes(6).toString("hex")}`);
    const lease = new Lease(join(leasesFolder(), `${campaign}-${process.pid}.json`), { owner, workFolder });
    // In the file before it is there: not even a kill between the two leaves a folder that nobody knows.
    await lease.#write();
    await mkdir(workFolder, { mode: 0o700 }).catch(async (error) => {
      await rm(lease.#path, { force: true });
      throw environmentError(`no folder for temporary files: ${messageOf(error)}; set TMPDIR`, {
        cause: error,
      });
    });
    return lease;
  }

  get owner(): LeaseFile["owner"] {
    return this.#file.owner;
  }

  /** For what parts write; it goes with the lease. */
  get workFolder(): string {
    return this.#file.workFolder;
  }

  /** Notes what is known by now: the runtime, whose labels tell the rest, and the folder that is written to. */
  async update(known: { runtime?: string; folder?: string }): Promise<void> {
    this.#file = { ...this.#file, ...known };
    await this.#write();
  }

  /** Notes a process that ends by itself, such as the report's: only a campaign that was killed leaves it behind. */
  async holdProcess(pid: number): Promise<void> {
    const started = await startTimeOf(pid);
    if (started === undefined) return;
    this.#helpers.push({ pid, started });
    await this.#write();
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
    const existing: RunningPart[] = [];
    try {
      return await runtime.start(part, async (running) => {
        existing.push(running);
        this.#parts.push(running);
        this.#refuseIfClosed(part);
        await this.#write();
      });
    } catch (error) {
      await this.release(existing);
      throw error;
    }
  }

  /** A part that comes up while everything is being given back must not stay. */
  #refuseIfClosed({ role }: Part): void {
    if (this.#closed) throw new Error(`${role} came too late: everything is being given back`);
  }

  /** Gives some parts back, the last started first. @throws BenchError naming those that could not be stopped */
  async release(parts: readonly RunningPart[]): Promise<void> {
    const left: string[] = [];
    for (const part of [...parts].reverse()) {
      try {
        await part.stop();
        const index = this.#parts.indexOf(part);
        if (index >= 0) this.#parts.splice(index, 1);
      } catch (error) {
        left.push(`${part.role}: ${messageOf(error)}`);
      }
    }
    if (!this.#closed) await this.#write();
    if (left.length > 0)
      throw new BenchError(
        `could not be stopped: ${left.join("; ")}; try again with: ratelimit-bench clean`,
        EXIT.defect,
      );
  }

  /** Gives every part back; none starts from now on. @throws BenchError naming those that could not be stopped */
  async releaseAll(): Promise<void> {
    this.#closed = true;
    // A part that cannot be stopped gets a second chance below, which then tells.
    await this.release([...this.#parts]).catch(() => {});
    // What was between its start and its first word is refused by now, and stopped.
    await Promise.allSettled(this.#starts);
    await this.release([...this.#parts]);
  }

  /** Gives everything back, and the work folder and its own file with it. */
  async close(): Promise<void> {
    await this.releaseAll();
    await this.#written.catch(() => {});
    await rm(this.#file.workFolder, { recursive: true, force: true });
    await rm(this.#path, { force: true });
  }

  /** Parts start side by side; their writes come one after the other, each with what is held by then. */
  #write(): Promise<void> {
    const before = this.#written.catch(() => {});
    this.#written = before.then(() => {
      const parts = this.#parts.flatMap((part) => part.process ?? []);
      const file: LeaseFile = { ...this.#file, processes: [...this.#helpers, ...parts] };
      return writeAtomically(this.#path, JSON.stringify(file));
    });
    return this.#written;
  }
}
