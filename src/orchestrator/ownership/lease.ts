import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { RuntimeAccess } from "../../contract/machines.js";
import { CLEAN_COMMAND, runnableIn } from "../../kit/command-text.js";
import { definedOnly } from "../../kit/defined-only.js";
import { BenchError, EXIT, environmentError, messageOf } from "../../kit/errors.js";
import { startTimeOf } from "../../runtimes/processes.js";
import type { Part, ProcessIdentity, RunningPart, Runtime } from "../../runtimes/runtime-types.js";
import { writeAtomically } from "../files/results-folder.js";
import {
  type LeaseFile,
  leasesFolder,
  makeStateFolder,
  thisOwner,
  WORK_FOLDER_PREFIX,
} from "./state-folder.js";

/**
 * Owns the parts that a campaign starts, and stops them in reverse order. Its file lets the next
 * start clean up.
 */
export class Lease {
  readonly #parts: RunningPart[] = [];
  readonly #helpers: ProcessIdentity[] = [];
  readonly #starts = new Set<Promise<unknown>>();
  readonly #path: string;
  #file: Omit<LeaseFile, "processes">;
  #guard: ChildProcess | undefined;
  #isClosed = false;
  #written: Promise<void> = Promise.resolve();

  private constructor(path: string, file: Omit<LeaseFile, "processes">) {
    this.#path = path;
    this.#file = file;
  }

  static async open(campaign: string): Promise<Lease> {
    await makeStateFolder(leasesFolder());
    const owner = await thisOwner(campaign);
    const workFolder = resolve(tmpdir(), `${WORK_FOLDER_PREFIX}${randomBytes(6).toString("hex")}`);
    const lease = new Lease(join(leasesFolder(), `${campaign}-${process.pid}.json`), {
      owner,
      workFolder,
    });
    // The file names the folder before it exists, so that a kill in between leaves no unknown folder.
    await lease.#write();
    await mkdir(workFolder, { mode: 0o700 }).catch(async (cause) => {
      await rm(lease.#path, { force: true });
      throw environmentError(`no folder for temporary files: ${messageOf(cause)}; set TMPDIR`, {
        cause,
      });
    });
    return lease;
  }

  get owner(): LeaseFile["owner"] {
    return this.#file.owner;
  }

  /** The folder for the files of parts, which is removed with the lease. */
  get workFolder(): string {
    return this.#file.workFolder;
  }

  /**
   * Records the runtime, whose labels find its containers, the access to its machines, or the folder
   * of the campaign.
   */
  async update(change: {
    runtime?: string;
    access?: RuntimeAccess;
    folder?: string;
  }): Promise<void> {
    this.#file = { ...this.#file, ...change };
    await this.#write();
  }

  /**
   * Starts the process that ends all listed ones as soon as this one is gone, even by kill -9. A
   * campaign can do without it.
   */
  async startGuard(packageFolder: string): Promise<void> {
    const program = join(packageFolder, "dist/orchestrator/ownership/guard.js");
    // A detached process is out of reach of the terminal's signals.
    const guard = spawn(process.execPath, [program, this.#path], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      cwd: packageFolder,
      env: { PATH: process.env.PATH, TMPDIR: tmpdir() },
    });
    guard.on("error", () => {});
    guard.stdin.on("error", () => {});
    guard.unref();
    (guard.stdin as Socket).unref();
    if (guard.pid === undefined) return;
    this.#guard = guard;
    await this.holdProcess(guard.pid, join(this.workFolder, "guard-1"));
  }

  /** Ends the guard by a signal that a stopped process gets, too. */
  async #endGuard(): Promise<void> {
    const guard = this.#guard;
    if (!guard || guard.exitCode !== null || guard.signalCode !== null) return;
    guard.ref();
    const ended = once(guard, "exit");
    guard.kill("SIGKILL");
    await ended;
  }

  /**
   * Records a process that ends by itself, and is only left by a campaign that was killed.
   * @param folder a folder whose name says what the process is for
   */
  async holdProcess(pid: number, folder?: string): Promise<void> {
    const started = await startTimeOf(pid);
    if (started === undefined) return;
    this.#helpers.push(definedOnly({ pid, started, folder }));
    // A report is made even if the state folder is full or gone.
    await this.#write().catch(() => {});
  }

  start(runtime: Runtime, part: Part): Promise<RunningPart> {
    return this.#tracked(this.#start(runtime, part));
  }

  /** Tracks a start, so that closing waits for it. */
  async #tracked<Value>(start: Promise<Value>): Promise<Value> {
    this.#starts.add(start);
    try {
      return await start;
    } finally {
      this.#starts.delete(start);
    }
  }

  /** Starts a part again that was killed, and owns its new process as soon as that exists. */
  async restart(part: RunningPart): Promise<void> {
    this.#refuseIfClosed(part);
    const restart = part.restart?.(async () => {
      this.#refuseIfClosed(part);
      await this.#write();
    });
    if (!restart) throw new Error(`${part.role} cannot be started again`);
    await this.#tracked(restart);
  }

  async #start(runtime: Runtime, part: Part): Promise<RunningPart> {
    this.#refuseIfClosed(part);
    const created: RunningPart[] = [];
    try {
      return await runtime.start(part, async (running) => {
        created.push(running);
        this.#parts.push(running);
        this.#refuseIfClosed(part);
        await this.#write();
      });
    } catch (error) {
      await this.release(created);
      throw error;
    }
  }

  /** @throws Error for a part that starts while everything is being stopped */
  #refuseIfClosed({ role }: Pick<Part, "role">): void {
    if (this.#isClosed) throw new Error(`${role} started too late: the campaign is stopping`);
  }

  /**
   * Stops parts, with the last started first.
   * @throws BenchError that names the parts which could not be stopped
   */
  async release(parts: readonly RunningPart[]): Promise<void> {
    const failed: string[] = [];
    for (const part of [...parts].reverse()) {
      try {
        await part.stop();
        const index = this.#parts.indexOf(part);
        if (index >= 0) this.#parts.splice(index, 1);
      } catch (error) {
        failed.push(`${part.role}: ${messageOf(error)}`);
      }
    }
    // A failure to record this must not lose what was measured.
    if (!this.#isClosed) await this.#write().catch(() => {});
    if (failed.length > 0)
      throw new BenchError(
        `could not be stopped: ${failed.join("; ")}; try again with: ${runnableIn(CLEAN_COMMAND)}`,
        EXIT.defect,
      );
  }

  /**
   * Stops every part, and lets none start from now on.
   * @throws BenchError that names the parts which could not be stopped
   */
  async releaseAll(): Promise<void> {
    this.#isClosed = true;
    // A part that cannot be stopped is tried again below, which reports the failure.
    await this.release([...this.#parts]).catch(() => {});
    // Parts that were just starting are refused by now, and stopped.
    await Promise.allSettled(this.#starts);
    await this.release([...this.#parts]);
  }

  /** Stops every part and removes the work folder and the lease's file. */
  async close(): Promise<void> {
    await this.releaseAll();
    await this.#written.catch(() => {});
    await this.#endGuard();
    await rm(this.#file.workFolder, { recursive: true, force: true });
    await rm(this.#path, { force: true });
  }

  /**
   * Writes the lease's file. Parts start in parallel, while writes take place one after the other,
   * each with the state at its time.
   */
  #write(): Promise<void> {
    const previous = this.#written.catch(() => {});
    this.#written = previous.then(() => {
      const parts = this.#parts.flatMap((part) => part.process ?? []);
      const file: LeaseFile = { ...this.#file, processes: [...this.#helpers, ...parts] };
      return writeAtomically(this.#path, JSON.stringify(file));
    });
    return this.#written;
  }
}
