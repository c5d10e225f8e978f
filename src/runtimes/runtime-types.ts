import type { Caps } from "../contract/configuration.js";
import type { VersionFacts } from "../contract/library-versions.js";
import type { PlacedKind, RuntimeAccess, RuntimeMachine } from "../contract/machines.js";
import type { EngineFacts, ImageFacts } from "../contract/manifest.js";
import type { PluginFacts } from "../contract/plugins.js";
import type { RoleKind } from "../contract/role.js";
import type { Throttling } from "../kit/control-groups.js";
import type { NodePlace } from "../kit/env.js";
import type { RunDelays } from "./run-delay.js";

export type { Caps } from "../contract/configuration.js";
export type { EngineFacts, ImageFacts } from "../contract/manifest.js";

/** What the runtime gives a part: an address, and a folder that is removed when the part stops. */
export interface PartAllocation extends NodePlace {
  /** The address to listen on; the other parts reach it as `host`. */
  bind: string;
  /** A second port, for parts that also talk to each other. */
  secondPort: number;
  folder: string;
  /** Paths of the plugins; absent without any. */
  plugins?: readonly string[];
  /** Folder of the library versions; absent without any. */
  versions?: string;
  ports: Readonly<Record<string, number>>;
  /** Folder that holds `Part.files`, read-only in containers. */
  files: string;
}

/**
 * A file that a part reads: one of this machine, or a text, which may depend on the host of its
 * address.
 */
export type PartFile = { path: string } | { text: string | ((host: string) => Promise<string>) };

export const textOf = async (
  { text }: Extract<PartFile, { text: unknown }>,
  host: string,
): Promise<string> => (typeof text === "string" ? text : text(host));

export interface ProgramSource {
  /** The name that parts use, e.g. `valkey`. */
  id: string;
  /** What its roles are for; absent: a store. */
  kind?: RoleKind;
  /** The version that was asked for, which its name holds too. */
  version?: string;
  /** It may have no `--version`: its version then is not known. */
  mayHideVersion?: true;
  /** Name of the executable, e.g. `valkey-server`. */
  command: string;
  /** Path of the executable that the user gave; absent: from PATH, else embedded. */
  path?: string;
  /** The image that contains it; absent: it does not run in containers. */
  image?: string;
  /** It does not know `--version`: its version is read from its file, or is that of its image. */
  withoutVersionFlag?: true;
}

/** The programs of this project that a runtime knows by itself; they run in Node.js. */
export type OwnProgram = "server" | "loadtest";

/**
 * What a runtime starts for a role. Runtimes know only parts, not roles such as server or store.
 */
export interface Part {
  role: string;
  /** Which of several runs that are up at once it belongs to; absent where there is one. */
  run?: string;
  /** What its role is for: a runtime of several machines places it by this. */
  kind?: RoleKind;
  /** The machine that it must run on, by its name in `Runtime.machines`; absent: any. */
  machine?: string;
  /** Id of a `ProgramSource`, or of a program of this project. */
  program: string;
  /** Applied where the runtime can. */
  caps?: Caps;
  /**
   * Idles but for moments in which it needs the machine's CPUs: no cap, and no place taken from
   * others.
   */
  isUncapped?: true;
  /** It answers lines of its standard input and ends when the input ends. It is not measured. */
  interactive?: boolean;
  /** It ends by itself, perhaps at once: that is no failed start. */
  endsByItself?: boolean;
  /** Lines can be written to its standard input. It is measured like any other part. */
  takesInput?: boolean;
  arguments(allocation: PartAllocation): readonly string[];
  environment(allocation: PartAllocation): Readonly<Record<string, string>>;
  ports?: readonly string[];
  files?: Readonly<Record<string, PartFile>>;
  /** Working folder: the project's package, or the part's own folder. */
  workingFolder: "package" | "own";
  /**
   * A GET request whose JSON answer `accepts` checks; absent where the runtime does not check
   * readiness.
   */
  ready?: { path: string; accepts(body: unknown): boolean };
}

export type Exit = { code: number | null; signal: string | null };

export interface PartCounters {
  cpu_us: number;
  resident_bytes: number;
  /** How often and how long its CPU cap throttled it; absent without a cap. */
  throttling?: Throttling;
  network?: { received_bytes: number; sent_bytes: number };
}

/** A process of this host, identified by id and start time, and its folder. */
export type ProcessIdentity = { pid: number; started: string; folder?: string };

/** What a runtime may be able to do to a running part, each with its undoing. */
export const partFaults = ["kill", "pause", "disconnect"] as const;
export type PartFault = (typeof partFaults)[number];
/** Whether a runtime can do it, or the reason why not. */
export type PartFaults = Readonly<Record<PartFault, true | string>>;

export interface RunningPart {
  role: string;
  /** Where the other parts of the same run reach it. */
  address: NodePlace;
  /** A name in `Runtime.machines`; absent where all parts run on one. */
  machine?: string;
  /**
   * Recorded in the lease, so that the next start can end it after a crash; absent where a label
   * names the owner.
   */
  process?: ProcessIdentity;
  /** Resolves when it ends, but for an end by `kill`, which is meant. */
  exited: Promise<Exit>;
  /** It was killed, and not started again: it has no counters. */
  isDown?: boolean;
  /** The caps that the engine reports as applied; absent where none can be applied. */
  caps?: Caps;
  /**
   * Calls `listener` for each line on standard error: first for the last lines so far, then for
   * each new one.
   */
  onLine(listener: (line: string) => void): void;
  /** All of standard output; resolves when the part has ended. */
  output(): Promise<string>;
  /**
   * Interactive parts only: writes a line and resolves with the answer, or with undefined when the
   * part ends.
   */
  ask?(line: string): Promise<string | undefined>;
  /** Parts that take input only: writes a line. Does nothing once the part has ended. */
  write?(line: string): void;
  /** The last lines of both outputs, for messages and logs. */
  lastLines(): readonly string[];
  /**
   * Why its machine does not answer any more; undefined where it does. Absent where that cannot be
   * told.
   */
  trouble?(): Promise<string | undefined>;
  /** Whether it is in the control groups of this process, and so under their limits. */
  isInOurGroups?: true;
  /** Whether it runs on this machine's CPUs, not in a virtual machine or on another host. */
  onThisMachine: boolean;
  counters(): Promise<PartCounters>;
  runDelays(): Promise<RunDelays | undefined>;
  /**
   * Ends it at once, as a crash would. Like all faults absent for a process in another's container.
   */
  kill?(): Promise<void>;
  /**
   * Starts it again at its address, after `kill`, until it is ready. @param onBegun as soon as the
   * process exists; a rejection stops the part @throws Error once the part was stopped
   */
  restart?(onBegun: () => Promise<void>): Promise<void>;
  /** Stops it where it is; connections stay open. */
  pause?(): Promise<void>;
  resume?(): Promise<void>;
  /** Cuts it from the network, so that packets to and from it are lost; connections stay open. */
  disconnect?(): Promise<void>;
  /** It has the same address as before. */
  reconnect?(): Promise<void>;
  /** Undoes all faults, ends the part and removes what belongs to it. */
  stop(): Promise<void>;
}

export interface ProgramFacts {
  path: string;
  version: string;
  /** Whether it came with the project's Python packages. */
  embedded: boolean;
  image?: ImageFacts;
}

/** Where parts run. The orchestrator only knows this interface. */
export interface Runtime {
  id: string;
  capsApplied: boolean;
  counterSource: string;
  /** What runs the containers, and from which images; absent where there are none. */
  engine?: EngineFacts;
  images?: Readonly<Record<string, ImageFacts>>;
  /** Those that parts can run on; absent where there is one. */
  machines?: readonly RuntimeMachine[];
  /** The names of those on which roles of a kind may run; absent, or empty: all of them. */
  machinesFor?(kind: PlacedKind): readonly string[];
  /** Conditions that affect every run and that only the runtime knows. */
  conditions?: readonly string[];
  /** Facts about the program of that id, or the reason why this runtime does not have it. */
  program(id: string): ProgramFacts | string;
  /** The caps as the engine applies them to a part; absent members are not applied. */
  appliedCaps(caps: Caps): Caps;
  /** What it can do to a running part: tried out, where only a trial tells. */
  partFaults(): Promise<PartFaults>;
  /**
   * Starts a part and waits until it is ready. @param onBegun called as soon as it exists, so that
   * it can be stopped at any time; a rejection stops it @throws environmentError when it is not
   * ready, with its last lines
   */
  start(part: Part, onBegun: (part: RunningPart) => Promise<void>): Promise<RunningPart>;
  /**
   * Removes what belongs to no single part, e.g. a network. @throws Error that names what is left
   */
  close(): Promise<void>;
}

/** Where parts run, as `process.platform` and `process.arch` name it. */
export type Platform = { system: string; architecture: string };

/** A plugin on this machine: the absolute path of its file or folder, and its facts. */
export type PluginSource = { path: string; facts: PluginFacts };

/** Library versions on this machine: subfolders of one folder. */
export type InstalledVersions = { folder: string; facts: readonly VersionFacts[] };

/** A process on this host that owns what a runtime started. */
export type Owner = { pid: number; started: string };

export type IsAlive = (owner: Owner) => Promise<boolean>;

/** Something that the harness created and that is no longer used. */
export interface Leftover {
  /** Named in messages, e.g. `the container …`. */
  what: string;
  remove(): Promise<void>;
}

export interface RuntimeDescription {
  id: string;
  /**
   * The member of a campaign's access that names its machines; absent where it runs on this one
   * alone.
   */
  reaches?: keyof RuntimeAccess;
  /**
   * What answers here (`Docker 28.0 answers`), or the reason why this runtime cannot be used, with
   * the fix.
   */
  available(): Promise<{ what: string } | { unavailableReason: string }>;
  platform(): Promise<Platform | undefined>;
  cpus(): Promise<number | undefined>;
  /**
   * The caps that `Runtime.appliedCaps` would give with that many CPUs; undefined: not known. Asks
   * no engine.
   */
  appliedCaps(caps: Caps, cpus: number | undefined): Caps;
  /** What it is likely to be able to do to a running part. Tries nothing. */
  partFaults: PartFaults;
  /** Whether it could start a program, or the reason why not. Does not start or build anything. */
  has(
    program: ProgramSource,
    options: Pick<RuntimeOptions, "packageFolder">,
  ): Promise<true | string>;
  open(options: RuntimeOptions): Promise<Runtime>;
  /** Leftovers of dead owners that no lease names, in the order in which they can be removed. */
  leftovers(isAlive: IsAlive): Promise<Leftover[]>;
  /** Things that were made for earlier states of the package, e.g. images. */
  outdated(packageFolder: string): Promise<Leftover[]>;
}

export interface RuntimeOptions {
  packageFolder: string;
  workFolder: string;
  /** The programs that its parts may run; it looks for no others. */
  programs: readonly ProgramSource[];
  plugins?: readonly PluginSource[];
  versions?: InstalledVersions | undefined;
  /** Owner and campaign of everything that is started. */
  owner: Owner;
  campaign: string;
  /**
   * Parts keep their addresses when they are started or connected again; needed for faults alone.
   */
  keepsAddresses?: boolean;
  signal: AbortSignal;
  /** Records a helper process, so that the next start can end it after a crash. */
  hold(pid: number): Promise<void>;
  /**
   * Called for each slow step, e.g. the first build of an image, and for each leftover that was
   * removed.
   */
  onSetupStep(text: string): void;
}
