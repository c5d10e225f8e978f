import type { Exit, Part, ProgramFacts, RunningPart, Runtime } from "../../src/runtimes/types.js";

const nothing = (): void => {};

/** A part that is nothing but a note of what was done with it. */
class FakePart implements RunningPart {
  readonly role: string;
  readonly address = { host: "127.0.0.1", port: 1 };
  readonly process: { pid: number; started: string };
  readonly exited: Promise<Exit>;
  readonly onThisMachine = true;
  readonly #runtime: FakeRuntime;
  #end: (exit: Exit) => void = nothing;

  constructor(runtime: FakeRuntime, role: string, pid: number) {
    this.#runtime = runtime;
    this.role = role;
    this.process = { pid, started: "1" };
    this.exited = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  onLine(): void {}

  async output(): Promise<string> {
    return "";
  }

  lastLines(): readonly string[] {
    return [];
  }

  async counters() {
    return { cpu_us: 0, resident_bytes: 0 };
  }

  async runDelays() {
    return undefined;
  }

  async stop(): Promise<void> {
    if (this.#runtime.unstoppable.has(this.role)) throw new Error("it does not listen");
    this.#runtime.told.push(`stop ${this.role}`);
    this.#runtime.alive.delete(this.role);
    this.#end({ code: null, signal: "SIGTERM" });
  }
}

/** Starts nothing: tells what it was asked, in order, and waits where the test wants it to. */
export class FakeRuntime implements Runtime {
  readonly id = "fake";
  readonly capsApplied = false;
  readonly counterSource = "fake";
  readonly told: string[] = [];
  readonly alive = new Set<string>();
  /** Roles whose `stop` fails. */
  readonly unstoppable = new Set<string>();
  /** What happens between a part's beginning and its readiness, by role. */
  readonly becomingReady = new Map<string, () => Promise<void>>();
  /** What happens before a part exists, by role. */
  readonly beforeBeginning = new Map<string, () => Promise<void>>();
  #pid = 100;

  program(): ProgramFacts | string {
    return "it has no programs";
  }

  async close(): Promise<void> {}

  async start(part: Part, onBegun: (running: RunningPart) => Promise<void>): Promise<RunningPart> {
    await this.beforeBeginning.get(part.role)?.();
    const running = new FakePart(this, part.role, this.#pid++);
    this.alive.add(part.role);
    this.told.push(`start ${part.role}`);
    try {
      await onBegun(running);
      await this.becomingReady.get(part.role)?.();
    } catch (error) {
      await running.stop();
      throw error;
    }
    return running;
  }
}

export const partOf = (role: string): Part => ({
  role,
  program: "node",
  image: "server",
  arguments: () => [],
  environment: () => ({}),
  workingFolder: "own",
});

/** A promise that the test settles itself. */
export function held(): { promise: Promise<void>; release: () => void } {
  let release = nothing;
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}
