import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { type Manifest, manifestSchema } from "../../src/contract/manifest.js";
import {
  type MeasuredResult,
  measuredResultSchema,
  type Result,
  resultSchema,
} from "../../src/contract/result.js";
import { leaseSchema } from "../../src/orchestrator/ownership/state-folder.js";
import { endProcess, startTimeOf } from "../../src/runtimes/processes.js";
import { type Ended, ROOT } from "./programs.js";

/** A process that the campaign started, as listed in its lease. */
interface StartedProcess {
  pid: number;
  started: string;
  role: string;
}

/**
 * The default flags of campaigns in tests. A flag that is given twice joins its lists, so given
 * flags replace these.
 */
const QUICK: Readonly<Record<string, string>> = {
  "--duration-mode": "custom:1",
  "--concurrency": "8",
  "--warmup": "0.2",
  "--cooldown": "0",
  "--runs": "1",
  // `auto` would choose a container engine where there is one.
  "--runtime": "local",
};
/**
 * A closed loop uses up every CPU for as long as it lasts, so a target that has no turns is asked for
 * so many requests, and not for a second.
 */
const FEW_REQUESTS = "requests:1000";

function withShortRuns(clients: string, flags: readonly string[]): string[] {
  const isOpenLoop = flags.includes("--rate");
  const isAlone = !/[\s,]/.test(clients);
  const defaults = isAlone && !isOpenLoop ? { ...QUICK, "--duration-mode": FEW_REQUESTS } : QUICK;
  return Object.entries(defaults).flatMap(([name, value]) =>
    flags.includes(name) ? [] : [name, value],
  );
}

/** What stays in the state folder; `overheads.json` has the overheads of this machine. */
const STATE_FILES = ["leases", "overheads.json"];

/** The warning about other programs, which depends on the machine, not on the campaign. */
const FOREIGN_LOAD_WARNING = /^Other programs use [\d.]+ of this machine's [^\n]+ \(M25\)\n/m;

const CLI = [process.execPath, join(ROOT, "dist/orchestrator/cli.js")];

type Environment = Readonly<Record<string, string>>;

/**
 * The environment, but no container engine answers in it. This machine may have some, where tests of
 * containers run at the same time: what those start is theirs.
 */
export function withoutEngines(home: string, environment: Environment = {}): Environment {
  const programs = join(home, "without engines");
  mkdirSync(programs, { recursive: true });
  writeFileSync(join(programs, "podman"), "#!/bin/sh\nexit 127\n", { mode: 0o755 });
  return {
    ...environment,
    DOCKER_HOST: "unix:///nonexistent/docker.sock",
    PATH: `${programs}:${environment.PATH ?? process.env.PATH}`,
  };
}

/**
 * The command line as a user starts it. It has its own state folder, results root and folder for
 * temporary files (each with a space in its name), so that tests see what it leaves behind.
 */
export class Campaign {
  readonly root: string;
  readonly ended: Promise<Ended>;
  readonly #process: ChildProcess;
  readonly #processes = new Map<number, StartedProcess>();
  readonly #output = { stdout: "", stderr: "" };
  #over = false;

  private constructor(home: string, command: readonly string[], env: Environment) {
    this.root = home;
    for (const folder of [this.state, this.temporary]) mkdirSync(folder, { recursive: true });
    const places = { XDG_STATE_HOME: this.state, TMPDIR: this.temporary };
    this.#process = spawn(command[0] ?? "", command.slice(1), {
      cwd: home,
      env: { PATH: process.env.PATH, ...places, RUNTIME: "local", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process.stdout?.on("data", (text) => {
      this.#output.stdout += text;
    });
    this.#process.stderr?.on("data", (text) => {
      this.#output.stderr += text;
    });
    this.ended = new Promise((resolve) => {
      this.#process.once("close", (code) => {
        this.#over = true;
        const { stdout, stderr } = this.#output;
        resolve({ code, stdout, stderr: stderr.replace(FOREIGN_LOAD_WARNING, "") });
      });
    });
    const watching = this.#watch();
    onTestFinished(async () => {
      this.signal("SIGKILL");
      await watching;
      for (const each of await this.runningProcesses()) await endProcess(each).catch(() => {});
    });
  }

  /** Waits for its end, which must have this exit code and leave nothing. */
  async ends(code = 0): Promise<Ended> {
    const ended = await this.ended;
    expect(ended.code, ended.stderr).toBe(code);
    expect(await this.leftovers()).toEqual([]);
    return ended;
  }

  /** Ctrl-C. */
  interrupted(): Promise<Ended> {
    this.signal("SIGINT");
    return this.ends(130);
  }

  /** Ends it when all runs are over, without the report of a test that does not read it. */
  async endsBeforeReport(): Promise<void> {
    await this.waitForLog("building the report");
    await this.interrupted();
  }

  /** Any command of the CLI, in a fresh home. */
  static command(home: string, parameters: readonly string[], env: Environment = {}): Campaign {
    return new Campaign(home, [...CLI, ...parameters], env);
  }

  /** One of the project's scripts. */
  static script(home: string, name: string, env: Environment): Campaign {
    return new Campaign(home, [join(ROOT, "scripts", name)], env);
  }

  /** A campaign of short runs; given flags replace the defaults. */
  static run(home: string, clients: string, flags: readonly string[] = [], env: Environment = {}) {
    const output = ["--output", join(home, "results root")];
    const parameters = ["--clients", clients, "--seed", "1", ...withShortRuns(clients, flags)];
    return new Campaign(home, [...CLI, "run", ...parameters, ...output, ...flags], env);
  }

  /** As `run`, but no file can become larger than so many KiB, as on a full disk. */
  static onFullDisk(home: string, kib: number, parameters: readonly string[]): Campaign {
    const limited = `trap '' XFSZ; ulimit -f ${kib}; exec "$@"`;
    return new Campaign(home, ["bash", "-c", limited, "bash", ...CLI, ...parameters], {});
  }

  /** Resumes the campaign of that home. */
  static resume(home: string, flags: readonly string[] = [], env: Environment = {}): Campaign {
    const output = ["--output", join(home, "results root")];
    return new Campaign(home, [...CLI, "run", "--resume", ...output, ...flags], env);
  }

  /** The warning about other programs on this machine, if there was one. */
  get foreignLoadWarning(): string | undefined {
    return FOREIGN_LOAD_WARNING.exec(this.#output.stderr)?.[0];
  }

  get state(): string {
    return join(this.root, "state home");
  }

  get temporary(): string {
    return join(this.root, "temporary files");
  }

  get #leases(): string {
    return join(this.state, "ratelimit-bench", "leases");
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Closes the reading end of standard output. */
  closeOutput(): void {
    this.#process.stdout?.destroy();
  }

  /** The campaign's folder. */
  get folder(): string {
    const root = join(this.root, "results root");
    const [name] = existsSync(root)
      ? readdirSync(root).filter((entry) => /^\d{8}_\d{6}$/.test(entry))
      : [];
    return join(root, name ?? "none yet");
  }

  /** The text of a file of its report. */
  report(name: string): string {
    return readFileSync(join(this.folder, "report", name), "utf8");
  }

  /** Waits for a text on standard error. */
  async waitForStderr(text: string): Promise<void> {
    while (!this.#output.stderr.includes(text)) {
      if (this.#over) throw new Error(`ended without ${text}: ${JSON.stringify(this.#output)}`);
      await delay(10);
    }
  }

  /** Waits until the log has so many lines that end with a text. */
  async waitForLog(text: string, times = 1): Promise<void> {
    const log = () => {
      const path = join(this.folder, "benchmark.log");
      return existsSync(path) ? readFileSync(path, "utf8") : "";
    };
    while (log().split(`${text}\n`).length <= times) {
      if (this.#over) throw new Error(`ended before ${text}: ${JSON.stringify(this.#output)}`);
      await delay(20);
    }
  }

  /** The process of the part with this role, once there is one. */
  async part(role: string): Promise<number> {
    for (;;) {
      const running = [...this.#processes.values()].findLast((held) => held.role === role);
      if (running) return running.pid;
      if (this.#over) throw new Error(`ended without a ${role}: ${JSON.stringify(this.#output)}`);
      await delay(20);
    }
  }

  get manifest(): Manifest {
    return manifestSchema.parse(
      JSON.parse(readFileSync(join(this.folder, "manifest.json"), "utf8")),
    );
  }

  /** All results so far, by file name; each passes the schema. */
  get results(): Map<string, Result> {
    const entries = existsSync(this.folder) ? readdirSync(this.folder) : [];
    const names = entries.filter((name) => /_(run\d+|diagnose)\.json$/.test(name));
    return new Map(
      names
        .sort()
        .map((name) => [
          name,
          resultSchema.parse(JSON.parse(readFileSync(join(this.folder, name), "utf8"))),
        ]),
    );
  }

  get measured(): MeasuredResult[] {
    return [...this.results.values()].map((result) => measuredResultSchema.parse(result));
  }

  /** The expected warning about suspect runs. It is empty where there are none. */
  get suspectWarning(): string {
    const suspects = this.measured.filter(({ verdict }) => verdict.status === "suspect");
    const rules = new Set(
      suspects.flatMap(({ verdict }) => verdict.reasons.map(({ rule }) => rule)),
    );
    if (suspects.length === 0) return "";
    const named = [...rules].sort().join(", ");
    const runCount = `${this.measured.length} run${this.measured.length === 1 ? "" : "s"}`;
    const are = suspects.length === 1 ? "is" : "are";
    return `${suspects.length} of ${runCount} ${are} suspect (${named}): the report says why\n`;
  }

  /** Processes that were started and are still running. */
  async runningProcesses(): Promise<StartedProcess[]> {
    const alive = await Promise.all(
      [...this.#processes.values()].map(async (held) =>
        (await startTimeOf(held.pid)) === held.started ? [held] : [],
      ),
    );
    return alive.flat();
  }

  /** Waits until all that was started has ended, without another start. */
  async orphansEnd(): Promise<void> {
    while ((await this.runningProcesses()).length > 0) await delay(20);
  }

  /** Everything that was left behind: processes, sockets, temporary files, leases and locks. */
  async leftovers(): Promise<string[]> {
    const survivors = (await this.runningProcesses()).map(
      ({ pid, role }) => `process ${pid} (${role})`,
    );
    const sockets = readdirSync("/tmp").filter((name) =>
      [...this.#processes.keys()].some((pid) => name.startsWith(`glide-socket-${pid}-`)),
    );
    const state = join(this.state, "ratelimit-bench");
    const files = [this.temporary, this.#leases, state]
      .filter(existsSync)
      .flatMap((folder) => readdirSync(folder))
      // The home of a user who has none stays.
      .filter((name) => !STATE_FILES.includes(name) && !name.startsWith(".ratelimit-bench-home-"));
    return [...survivors, ...sockets, ...files];
  }

  /** How many processes the leases have listed. */
  get processCount(): number {
    return this.#processes.size;
  }

  /** Records every process in a lease. */
  async #watch(): Promise<void> {
    while (!this.#over) {
      const names = existsSync(this.#leases) ? readdirSync(this.#leases) : [];
      // Other files are still being written.
      for (const name of names) if (name.endsWith(".json")) this.#record(join(this.#leases, name));
      await delay(20);
    }
  }

  #record(path: string): void {
    try {
      for (const { pid, started, folder } of leaseSchema.parse(
        JSON.parse(readFileSync(path, "utf8")),
      ).processes) {
        const role = folder ? basename(folder).replace(/-[^-]*$/, "") : "helper";
        this.#processes.set(pid, { pid, started, role });
      }
    } catch {
      // The lease was just removed.
    }
  }
}
