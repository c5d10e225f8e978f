import type { Caps } from "../contract/configuration.js";
import type { InstalledVersion } from "../contract/library-versions.js";
import type { PlacedKind, RuntimeAccess, RuntimeMachine } from "../contract/machines.js";
import type { EngineProperties, ImageIdentity } from "../contract/manifest.js";
import type { PluginIdentity } from "../contract/plugins.js";
import type { RoleKind } from "../contract/role.js";
import type { Throttling } from "../kit/control-groups.js";
import type { NodePlace } from "../kit/env.js";
import type { RunDelays } from "./run-delay.js";

export type { Caps } from "../contract/configuration.js";
export type { EngineProperties, ImageIdentity } from "../contract/manifest.js";

/** The address and the folder that a runtime gives a part, and removes when the part stops. */
export interface PartAllocation extends NodePlace {
  /** The address to listen on. The other parts reach it as `host`. */
  bind: string;
  /** A second port, for parts that also talk to each other. */
  secondPort: number;
  folder: string;
  /** The paths of the plugins; absent where there are none. */
  plugins?: readonly string[];
  /** The folder of the library versions; absent where there are none. */
  versions?: string;
  ports: Readonly<Record<string, number>>;
  /** The folder that holds `Part.files`, which is read-only in containers. */
  files: string;
}

/** A file that a part reads, on this machine or as a text, which may depend on the part's host. */
export type PartFile = { path: string } | { text: string | ((host: string) => Promise<string>) };

export const textOf = async (
  { text }: Extract<PartFile, { text: unknown }>,
  host: string,
): Promise<string> => (typeof text === "string" ? text : text(host));

export interface ProgramSource {
  /** The name that parts use, e.g. `valkey`. */
  id: string;
  /** The kind of its roles; absent for a store. */
  kind?: RoleKind;
  /** The requested version, which is also in the id. */
  version?: string;
  /** Whether it may have no `--version`, so that its version is not known. */
  mayHideVersion?: true;
  /** The name of the executable, e.g. `valkey-server`. */
  command: string;
  /** The path that the user names; absent for a program from PATH or an embedded one. */
  path?: string;
  /** The image that contains it; absent where it does not run in containers. */
  image?: string;
  /** Whether its version is read from its file or image, because it does not know `--version`. */
  withoutVersionFlag?: true;
  /**
   * Whether it is somebody's app, which is never run or read for a version, and whose image is never
   * pulled: a mistyped name must not run what a stranger has published under it.
   */
  isApp?: true;
}

/** The programs of this project that a runtime knows by itself. They run in Node.js. */
export type OwnProgram = "server" | "loadtest";

/** What a runtime starts for a role. Runtimes only know parts, and no roles such as a server. */
export interface Part {
  role: string;
  /** What messages about it call it; its role where it is absent. */
  name?: string;
  /** The run that it belongs to, of several that are up at once; absent where there is one. */
  run?: string;
  /** The kind of its role, by which a runtime of several machines places it. */
  kind?: RoleKind;
  /** The machine that it must run on, by its name in `Runtime.machines`; absent for any. */
  machine?: string;
  /** The id of a `ProgramSource`, or of a program of this project. */
  program: string;
  /** The caps, which are applied where the runtime can. */
  caps?: Caps;
  /**
   * Whether it has no cap and takes no place from others, because it idles except for moments in
   * which it needs the machine's CPUs.
   */
  isUncapped?: true;
  /** Whether it answers lines of its standard input, ends with the input, and is not measured. */
  interactive?: boolean;
  /** Whether it ends by itself, perhaps at once, which is no failed start. */
  endsByItself?: boolean;
  /** Whether lines can be written to its standard input. It is measured like any other part. */
  takesInput?: boolean;
  arguments(allocation: PartAllocation): readonly string[];
  environment(allocation: PartAllocation): Readonly<Record<string, string>>;
  ports?: readonly string[];
  files?: Readonly<Record<string, PartFile>>;
  /** The working folder: the project's package, the part's own folder, or one of this machine. */
  workingFolder: "package" | "own" | { path: string };
  /** Whether it also has the variables of this process, where it runs on this machine. */
  inheritsVariables?: true;
  /** Whether it may start processes, whose CPU time and memory count as its own. */
  hasProcessTree?: true;
  /**
   * Whether its container is as its image says: with the user, the entry point, the variables and the
   * folder of the image, into which it may write. The arguments replace the image's own, if any.
   */
  followsImage?: true;
  /**
   * A GET request whose answer `accepts` checks; absent where the runtime does not check
   * readiness.
   */
  ready?: {
    path: string;
    headers?: Readonly<Record<string, string>>;
    accepts(answer: ReadyAnswer): boolean;
  };
}

/** What a part answers to the question whether it is ready. */
export type ReadyAnswer = { status: number; text: string };

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

/** The faults that a runtime may be able to inject into a running part, and to undo. */
export const partFaults = ["kill", "pause", "disconnect"] as const;
export type PartFault = (typeof partFaults)[number];
/** Whether a runtime can inject each fault, or the reason why not. */
export type PartFaults = Readonly<Record<PartFault, true | string>>;

export interface RunningPart {
  role: string;
  /** The place where the other parts of the same run reach it. */
  address: NodePlace;
  /** A name in `Runtime.machines`; absent where all parts run on one. */
  machine?: string;
  /**
   * The process in the lease, which the next start can end after a crash; absent where a label names
   * the owner.
   */
  process?: ProcessIdentity;
  /** Resolves when it ends, except for an end by `kill`, which is intended. */
  exited: Promise<Exit>;
  /** Whether it was killed and not started again, so that it has no counters. */
  isDown?: boolean;
  /** The caps that the engine reports as applied; absent where none can be applied. */
  caps?: Caps;
  /**
   * Calls `listener` for each line on standard error, first for the last lines so far and then for
   * each new one.
   */
  onLine(listener: (line: string) => void): void;
  /** Waits until the part has ended. @returns all of its standard output */
  output(): Promise<string>;
  /**
   * Writes a line to an interactive part, and waits for the answer, which is undefined where the part
   * ends.
   */
  ask?(line: string): Promise<string | undefined>;
  /**
   * Sends a GET request from where the other parts reach it; absent for a part that this process can
   * ask, and for one that follows no image.
   */
  get?(path: string, headers: Readonly<Record<string, string>>): Promise<ReadyAnswer>;
  /** Writes a line to a part that takes input. It does nothing once the part has ended. */
  write?(line: string): void;
  /** The last lines of both outputs, for messages and logs. */
  lastLines(): readonly string[];
  /**
   * Why its machine does not answer any more; undefined where it does. The function is absent where
   * that cannot be found out.
   */
  trouble?(): Promise<string | undefined>;
  /** Whether it is in the control groups of this process, and so under their limits. */
  isInOurGroups?: true;
  /** Whether it runs on this machine's CPUs, not in a virtual machine or on another host. */
  onThisMachine: boolean;
  counters(): Promise<PartCounters>;
  runDelays(): Promise<RunDelays | undefined>;
  /**
   * Ends it at once, as a crash would. Like all faults it is absent for a process in another part's
   * container.
   */
  kill?(): Promise<void>;
  /**
   * Starts it again at its address after `kill`, and waits until it is ready.
   * @param onBegun is called as soon as the process exists; its rejection stops the part
   * @throws Error once the part was stopped
   */
  restart?(onBegun: () => Promise<void>): Promise<void>;
  /** Stops it where it is, while connections stay open. */
  pause?(): Promise<void>;
  resume?(): Promise<void>;
  /** Cuts it from the network. Packets to and from it are lost, while connections stay open. */
  disconnect?(): Promise<void>;
  /** Connects it to the network again, at the same address as before. */
  reconnect?(): Promise<void>;
  /** Undoes all faults, ends the part and removes what belongs to it. */
  stop(): Promise<void>;
}

export interface FoundProgram {
  path: string;
  version: string;
  /** Whether it came with the project's Python packages. */
  embedded: boolean;
  image?: ImageIdentity;
}

/** A place where parts run. The orchestrator only knows this interface. */
export interface Runtime {
  id: string;
  capsApplied: boolean;
  counterSource: string;
  /** The engine of the containers; absent where there are none. */
  engine?: EngineProperties;
  images?: Readonly<Record<string, ImageIdentity>>;
  /** The machines that parts can run on; absent where there is one. */
  machines?: readonly RuntimeMachine[];
  /** The names of the machines for roles of a kind; absent, or empty, for all machines. */
  machinesFor?(kind: PlacedKind): readonly string[];
  /** Conditions that affect every run and that only the runtime knows. */
  conditions?: readonly string[];
  /** The program of that id, or the reason why this runtime does not have it. */
  program(id: string): FoundProgram | string;
  /** The caps as the engine applies them to a part. Absent members are not applied. */
  appliedCaps(caps: Caps): Caps;
  /** The faults that it can inject into a running part, which it tries out where needed. */
  partFaults(): Promise<PartFaults>;
  /**
   * Starts a part and waits until it is ready.
   * @param onBegun is called as soon as the part exists, so that it can be stopped at any time; its
   *   rejection stops the part
   * @throws environmentError with the last lines of a part that does not become ready
   */
  start(part: Part, onBegun: (part: RunningPart) => Promise<void>): Promise<RunningPart>;
  /** Removes what belongs to no single part, e.g. a network. @throws Error that names what is left */
  close(): Promise<void>;
}

/** The platform on which parts run, by the names of `process.platform` and `process.arch`. */
export type Platform = { system: string; architecture: string };

/** A plugin on this machine, with the absolute path of its file or folder. */
export type PluginSource = { path: string; identity: PluginIdentity };

/** The library versions on this machine, which are subfolders of one folder. */
export type InstalledVersions = { folder: string; installed: readonly InstalledVersion[] };

/** A process on this host that owns what a runtime started. */
export type Owner = { pid: number; started: string };

export type IsAlive = (owner: Owner) => Promise<boolean>;

/** Something that the harness created and that is no longer used. */
export interface Leftover {
  /** Its name in messages, e.g. `the container …`. */
  what: string;
  remove(): Promise<void>;
}

export interface RuntimeDescription {
  id: string;
  /** The member of a campaign's access that names its machines; absent where it needs only this one. */
  reaches?: keyof RuntimeAccess;
  /**
   * A text on what answers here (`Docker 28.0 answers`), or the reason why this runtime cannot be
   * used, with the fix.
   */
  available(): Promise<{ what: string } | { unavailableReason: string }>;
  platform(): Promise<Platform | undefined>;
  cpus(): Promise<number | undefined>;
  /**
   * The caps that `Runtime.appliedCaps` would give, without asking an engine.
   * @param cpus the number of CPUs; undefined where it is not known
   */
  appliedCaps(caps: Caps, cpus: number | undefined): Caps;
  /** The faults that it is likely to be able to inject into a running part. It tries nothing. */
  partFaults: PartFaults;
  /** Whether it could start a program, or the reason why not. It starts and builds nothing. */
  has(
    program: ProgramSource,
    options: Pick<RuntimeOptions, "packageFolder">,
  ): Promise<true | string>;
  open(options: RuntimeOptions): Promise<Runtime>;
  /** The leftovers of dead owners that no lease names, in the order of their removal. */
  leftovers(isAlive: IsAlive): Promise<Leftover[]>;
  /** The things that were made for earlier states of the package, e.g. images. */
  outdated(packageFolder: string): Promise<Leftover[]>;
}

export interface RuntimeOptions {
  packageFolder: string;
  workFolder: string;
  /** The programs that its parts may run. It looks for no others. */
  programs: readonly ProgramSource[];
  plugins?: readonly PluginSource[];
  versions?: InstalledVersions | undefined;
  /** The owner of everything that is started. */
  owner: Owner;
  campaign: string;
  /** Whether parts keep their addresses when they are started or connected again, for faults. */
  keepsAddresses?: boolean;
  signal: AbortSignal;
  /** Records a helper process, so that the next start can end it after a crash. */
  hold(pid: number): Promise<void>;
  /** Reports each slow step, e.g. the first build of an image, and each leftover that was removed. */
  onSetupStep(text: string): void;
}
