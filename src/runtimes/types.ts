import type { Node } from "../contract/env.js";

/** What a part is given by the runtime: an address of its own and a folder that goes when it stops. */
export interface Place extends Node {
  /** A second port, for parts that talk among each other beside their service. */
  secondPort: number;
  folder: string;
}

/** One thing a runtime starts. Runtimes know parts alone: they never say "server" or "store". */
export interface Part {
  /** Unique within a run, e.g. `server`, `store-1`. */
  role: string;
  /** A program the runtime can find, e.g. `node`, `valkey-server`. */
  program: string;
  arguments(place: Place): readonly string[];
  environment(place: Place): Readonly<Record<string, string>>;
  /** Where relative paths start: the project's own package, or the part's folder. */
  workingFolder: "package" | "own";
  /** A GET that answers with JSON which `accepts` takes; absent where readiness is somebody else's to judge. */
  ready?: { path: string; accepts(body: unknown): boolean };
}

export interface Exit {
  code: number | null;
  signal: string | null;
}

/** Cumulative counters of a part. */
export interface PartCounters {
  cpu_us: number;
  resident_bytes: number;
}

export interface RunningPart {
  role: string;
  /** As the other parts of the same run reach it. */
  address: Node;
  /** What the next start needs to find it should this process die: goes into the lease. */
  identity: Readonly<Record<string, string | number>>;
  exited: Promise<Exit>;
  /** Calls `listener` for each line on standard error from now on. */
  onLine(listener: (line: string) => void): void;
  /** All of standard output; resolves when the part has ended. */
  output(): Promise<string>;
  /** The last lines of both outputs, for messages and logs. */
  lastLines(): readonly string[];
  counters(): Promise<PartCounters>;
  /** Ends the part, first politely, and removes all that was its own. */
  stop(): Promise<void>;
}

/** A program that the runtime can start, as it was found. */
export interface ProgramFacts {
  path: string;
  version: string;
  /** It came with the project's own packages. */
  embedded: boolean;
}

/** A place where parts run. One file each; the orchestrator knows no other door. */
export interface Runtime {
  id: string;
  /** Whether CPU and memory caps are applied. */
  capsApplied: boolean;
  /** How counters are read. */
  counterSource: string;
  /** Facts of a program, or undefined where this runtime does not have it. */
  program(name: string): ProgramFacts | undefined;
  /**
   * Starts a part and waits until it is ready. When it does not become so, nothing of it is left.
   * @param onBegun is told the part as soon as it exists, long before it is ready, so that it can be given back at
   * any time; when it rejects, the part is stopped
   * @throws environmentError when the part does not become ready, with its last lines
   */
  start(part: Part, onBegun: (part: RunningPart) => Promise<void>): Promise<RunningPart>;
}

export interface RuntimeDescription {
  id: string;
  open(options: RuntimeOptions): Promise<Runtime>;
  /** Ends what a dead owner left behind. @returns whether anything was still there */
  reclaim(identity: RunningPart["identity"]): Promise<boolean>;
}

export interface RuntimeOptions {
  /** Folder of the project's own package, with `dist/` and `.venv/`. */
  packageFolder: string;
  /** Folder for the parts' own folders. */
  workFolder: string;
  /** Programs by name, with the path the user gave. */
  programPaths: Readonly<Record<string, string>>;
}
