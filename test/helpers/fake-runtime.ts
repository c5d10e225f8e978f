import type {
  Caps,
  Exit,
  FoundProgram,
  Part,
  PartFaults,
  RunningPart,
  Runtime,
} from "../../src/runtimes/runtime-types.js";

const nothing = (): void => {};

/** A part that only records the calls on it. */
class FakePart implements RunningPart {
  readonly role: string;
  readonly address: { host: string; port: number };
  process: { pid: number; started: string };
  readonly exited: Promise<Exit>;
  readonly onThisMachine = true;
  readonly #runtime: FakeRuntime;
  #end: (exit: Exit) => void = nothing;

  constructor(runtime: FakeRuntime, role: string, pid: number) {
    this.#runtime = runtime;
    this.role = role;
    this.address = { host: "127.0.0.1", port: pid };
    this.process = { pid, started: "1" };
    this.exited = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  onLine(): void {}

  write(line: string): void {
    this.#runtime.calls.push(`write ${this.role}: ${line}`);
  }

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

  isDown = false;

  async kill(): Promise<void> {
    this.#runtime.calls.push(`kill ${this.role}`);
    this.isDown = true;
  }

  async restart(onBegun: () => Promise<void>): Promise<void> {
    this.#runtime.calls.push(`restart ${this.role}`);
    this.isDown = false;
    this.process = { ...this.process, pid: this.process.pid + 1000 };
    await onBegun();
  }

  async pause(): Promise<void> {
    this.#runtime.calls.push(`pause ${this.role}`);
  }

  async resume(): Promise<void> {
    this.#runtime.calls.push(`resume ${this.role}`);
  }

  async stop(): Promise<void> {
    if (this.#runtime.unstoppable.has(this.role)) throw new Error("it does not listen");
    this.#runtime.calls.push(`stop ${this.role}`);
    this.#runtime.alive.delete(this.role);
    this.#end({ code: null, signal: "SIGTERM" });
  }
}

/** Starts nothing: records its calls in order, and waits where the test wants it to. */
export class FakeRuntime implements Runtime {
  readonly id = "fake";
  readonly capsApplied = false;
  readonly counterSource = "fake";
  readonly calls: string[] = [];
  readonly alive = new Set<string>();
  /** Roles whose `stop` fails. */
  readonly unstoppable = new Set<string>();
  /** What happens between a part's start and its readiness, by role. */
  readonly whileStarting = new Map<string, () => Promise<void>>();
  /** What happens before a part exists, by role. */
  readonly beforeStart = new Map<string, () => Promise<void>>();
  #pid = 100;

  program(): FoundProgram | string {
    return "it has no programs";
  }

  appliedCaps(): Caps {
    return {};
  }

  async partFaults(): Promise<PartFaults> {
    return { kill: true, pause: true, disconnect: true };
  }

  async close(): Promise<void> {}

  async start(
    part: Part,
    onStarted: (running: RunningPart) => Promise<void>,
  ): Promise<RunningPart> {
    await this.beforeStart.get(part.role)?.();
    const running = new FakePart(this, part.role, this.#pid++);
    this.alive.add(part.role);
    this.calls.push(`start ${part.role}`);
    try {
      await onStarted(running);
      await this.whileStarting.get(part.role)?.();
    } catch (error) {
      await running.stop();
      throw error;
    }
    return running;
  }
}

export const partOf = (role: string): Part => ({
  role,
  program: "server",
  arguments: () => [],
  environment: () => ({}),
  workingFolder: "own",
});

/** A promise that the test settles itself. */
export function deferred(): { promise: Promise<void>; release: () => void } {
  let release = nothing;
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}
