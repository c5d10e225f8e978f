import type { Node } from "../contract/env.js";
import type { PluginFacts } from "../contract/plugins.js";
import type { VersionFacts } from "../contract/versions.js";
import type { RunDelays } from "./run-delay.js";

/** What a part is given by the runtime: an address of its own and a folder that goes when it stops. */
export interface Place extends Node {
  /** The address to listen on; the other parts reach it as `host`. */
  bind: string;
  /** A second port, for parts that talk among each other beside their service. */
  secondPort: number;
  folder: string;
  /** Where it finds the plugins that the runtime was told of; absent without any. */
  plugins?: readonly string[];
  /** The folder with the versions of libraries that the runtime was told of; absent without any. */
  versions?: string;
}

/** How much of the machine a part may use. A member that is absent is no limit. */
export interface Caps {
  /** Cores' worth of CPU time. */
  cpus?: number;
  memory_bytes?: number;
  /** Cores it may run on, as the engine writes them: `0-1,3`. */
  cpuset?: string;
}

/** One thing a runtime starts. Runtimes know parts alone: they never say "server" or "store". */
export interface Part {
  /** Unique within a run, e.g. `server`, `store-1`. */
  role: string;
  /** A program the runtime can find, e.g. `node`, `valkey-server`. */
  program: string;
  /** Where containers find that program: one of the images that the runtime was told of. */
  image: string;
  /** Applied where the runtime can. */
  caps?: Caps;
  /** It answers lines of its standard input, ends when that ends, and nothing is measured of it. */
  interactive?: boolean;
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
  /** How often and how long its CPU cap held it up, of so many scheduling periods; absent without a cap. */
  throttling?: { periods: number; throttled_periods: number; throttled_us: number };
  network?: { received_bytes: number; sent_bytes: number };
}

/** A process of this host, told apart from all that ever have its id, and the folder that goes with it. */
export interface ProcessIdentity {
  pid: number;
  /** See `startTimeOf`. */
  started: string;
  folder?: string;
}

export interface RunningPart {
  role: string;
  /** As the other parts of the same run reach it. */
  address: Node;
  /** Goes into the lease, so that the next start can end it should we die; absent where a label tells whose it is. */
  process?: ProcessIdentity;
  exited: Promise<Exit>;
  /** What was really applied, as the engine tells it; absent where nothing can be. */
  caps?: Caps;
  /** Calls `listener` for each line on standard error from now on. */
  onLine(listener: (line: string) => void): void;
  /** All of standard output; resolves when the part has ended. */
  output(): Promise<string>;
  /** Writes a line and resolves with the line that answers it, or undefined when the part ends; of interactive parts. */
  ask?(line: string): Promise<string | undefined>;
  /** The last lines of both outputs, for messages and logs. */
  lastLines(): readonly string[];
  /** Whether this machine's CPUs run it: not so where the engine has a virtual machine of its own or is elsewhere. */
  onThisMachine: boolean;
  counters(): Promise<PartCounters>;
  /** Of its threads; undefined where the system does not tell. */
  runDelays(): Promise<RunDelays | undefined>;
  /** Ends the part, first politely, and removes all that was its own. */
  stop(): Promise<void>;
}

/** A program that the runtime can start, as it was found. */
export interface ProgramFacts {
  path: string;
  version: string;
  /** It came with the project's own packages. */
  embedded: boolean;
  /** The image that holds it, where the path is an image's name. */
  image?: ImageFacts;
}

/** An image as the engine has it. */
export interface ImageFacts {
  name: string;
  id: string;
  /** Of the registry; absent for an image that was built here. */
  digest?: string;
}

/** The engine that runs containers. */
export interface EngineFacts {
  name: string;
  version: string;
  api_version: string;
  operating_system: string;
  kernel: string;
  cpus: number;
  memory_bytes: number;
  cgroup_version: string;
}

/** A place where parts run. One file each; the orchestrator knows no other door. */
export interface Runtime {
  id: string;
  /** Whether CPU and memory caps are applied. */
  capsApplied: boolean;
  /** How counters are read. */
  counterSource: string;
  /** What runs the containers, and from which images; absent where there are none. */
  engine?: EngineFacts;
  images?: Readonly<Record<string, ImageFacts>>;
  /** Conditions of this place that bear on every run and that only it can see. */
  conditions?: readonly string[];
  /** Facts of a program, or why this runtime does not have it. */
  program(name: string): ProgramFacts | string;
  /**
   * Starts a part and waits until it is ready. When it does not become so, nothing of it is left.
   * @param onBegun is told the part as soon as it exists, long before it is ready, so that it can be given back at
   * any time; when it rejects, the part is stopped
   * @throws environmentError when the part does not become ready, with its last lines
   */
  start(part: Part, onBegun: (part: RunningPart) => Promise<void>): Promise<RunningPart>;
  /** Gives back what belongs to no single part, e.g. a network. @throws Error naming what is left */
  close(): Promise<void>;
}

/** A plugin on this machine: its file or folder, absolute, and what names its bytes. */
export interface PluginPlace {
  path: string;
  facts: PluginFacts;
}

/** Versions of libraries on this machine, each in a folder of its own below one. */
export interface VersionPlace {
  folder: string;
  facts: readonly VersionFacts[];
}

/** A process on this host that owns what a runtime started. */
export interface Owner {
  pid: number;
  /** See `startTimeOf`. */
  started: string;
}

/** Something of ours that nobody needs any more. */
export interface Leftover {
  /** In words: `container …`. */
  what: string;
  /** @throws Error when it cannot go */
  remove(): Promise<void>;
}

export interface RuntimeDescription {
  id: string;
  /** What answers here, in words (`Docker 28.0`), or why this runtime cannot be used, with the mend. */
  available(): Promise<{ what: string } | { lacks: string }>;
  /** CPUs that its parts may run on; undefined where nothing answers that could say it. */
  cpus(): Promise<number | undefined>;
  /** Whether it could start a program, or why not; nothing is started or built to find that out. */
  has(
    program: string,
    options: Pick<RuntimeOptions, "packageFolder" | "programPaths">,
  ): Promise<true | string>;
  /** @throws environmentError when it cannot be made ready */
  open(options: RuntimeOptions): Promise<Runtime>;
  /** What owners left behind who are dead and that no lease tells of, in the order in which it can go. */
  leftovers(isAlive: (owner: Owner) => Promise<boolean>): Promise<Leftover[]>;
  /** What was made for earlier states of the package and is of no use any more, e.g. images. */
  outdated(packageFolder: string): Promise<Leftover[]>;
}

export interface RuntimeOptions {
  /** Folder of the project's own package, with `dist/` and `scripts/`. */
  packageFolder: string;
  /** Folder for the parts' own folders. */
  workFolder: string;
  /** Programs by name, with the path the user gave. */
  programPaths: Readonly<Record<string, string>>;
  /** Files and folders from outside the project that its parts may load; absent without any. */
  plugins?: readonly PluginPlace[];
  /** Versions of libraries that its server may load; absent without any. */
  versions?: VersionPlace | undefined;
  /** Who will own what is started, and for which campaign. */
  owner: Owner;
  campaign: string;
  /** Raised when nobody waits for the opening any more. */
  signal: AbortSignal;
  /** Notes a helper process, so that the next start can end it should we die. */
  hold(pid: number): Promise<void>;
  /** Called with what takes long, e.g. the first build of an image. */
  say(text: string): void;
}
