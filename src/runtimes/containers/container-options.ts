import type Docker from "dockerode";
import { definedOnly } from "../../kit/defined-only.js";
import type { Caps, Part } from "../runtime-types.js";

/** The port on which every part listens. Each has its own address, so that no port is taken. */
export const PORT = 7000;
export const SECOND_PORT = 7001;

/** Further ports by name, after the first two. */
export const namedPorts = (names: readonly string[] = []): Record<string, number> =>
  Object.fromEntries(names.map((name, index) => [name, SECOND_PORT + 1 + index]));

export const FILES_FOLDER = "/files";

/** The part's writable folder, which is in memory. */
export const OWN_FOLDER = "/tmp";

/** The folder that store images declare as a volume. In memory, it leaves no volume behind. */
const VOLUME = "/data";

/** An unprivileged user, which is the same in every image. */
const USER = "1000:1000";

/** The limits of open files and processes. The engine's own limits may be lower. */
export const ULIMITS: Readonly<Record<Ulimit, number>> = { nofile: 65_535, nproc: 65_535 };
const MOST_PROCESSES = 4_096;
const INPUT = { OpenStdin: true, StdinOnce: true, AttachStdin: true } as const;
const GIGA = 1_000_000_000;

export type Ulimit = "nofile" | "nproc";

/** The limit that an engine could not grant because its own is lower; undefined for another error. */
export function refusedUlimit(message: string): Ulimit | undefined {
  if (/rlimit type 7|RLIMIT_NOFILE/.test(message)) return "nofile";
  return /rlimit type 6|RLIMIT_NPROC/.test(message) ? "nproc" : undefined;
}

/** What keeps a container that runs one of our programs from what it does not need. */
const CLOSED: Docker.HostConfig = {
  CapDrop: ["ALL"],
  ReadonlyRootfs: true,
  Tmpfs: { [OWN_FOLDER]: "rw,nosuid,size=256m,mode=1777", [VOLUME]: "rw,nosuid,size=64m" },
};

/** Keeps an engine from running the health check of an image, whose CPU time would be measured. */
const NO_CHECK = { Test: ["NONE"] };

interface ContainerRequest {
  part: Part;
  name: string;
  image: string;
  place: { network: string; endpoint?: Docker.EndpointSettings };
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
  labels: Readonly<Record<string, string>>;
  /** The limits that the engine can grant. */
  ulimits: Readonly<Record<Ulimit, number>>;
}

/**
 * The options of a part's container, which is unprivileged, without capabilities, read-only, limited,
 * on its own network, and never restarted. One that follows its image has the image's user, and what
 * an engine gives it by default.
 */
export function containerOptions({
  part,
  name,
  image,
  place: { network, endpoint },
  command: [program = "", ...parameters],
  environment,
  labels,
  ulimits,
}: ContainerRequest): Docker.ContainerCreateOptions {
  // The input ends with the connection of the process that writes to it.
  const input = part.takesInput ? INPUT : undefined;
  const isOurs = part.followsImage === undefined;
  return definedOnly({
    name,
    Image: image,
    ...(isOurs ? { Entrypoint: [program], User: USER } : { Healthcheck: NO_CHECK }),
    // An image has its own command where there are no arguments.
    Cmd: isOurs || parameters.length > 0 ? parameters : undefined,
    Env: Object.entries(environment).map(([key, value]) => `${key}=${value}`),
    WorkingDir: part.workingFolder === "own" ? OWN_FOLDER : undefined,
    Labels: { ...labels },
    ...input,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      NetworkMode: network,
      SecurityOpt: ["no-new-privileges"],
      ...(isOurs ? CLOSED : {}),
      Mounts: mountsOf(part),
      RestartPolicy: { Name: "no" },
      PidsLimit: MOST_PROCESSES,
      Ulimits: Object.entries(ulimits).map(([kind, most]) => ({
        Name: kind,
        Soft: most,
        Hard: most,
      })),
      LogConfig: { Type: "json-file", Config: { "max-size": "10m" } },
      ...cappedBy(part.caps ?? {}),
    },
    NetworkingConfig: endpoint && { EndpointsConfig: { [network]: endpoint } },
  });
}

/**
 * A volume for the part's files, which goes with the container. Files are sent to the engine, because
 * it may be on another machine.
 */
function mountsOf({ files = {} }: Part): Docker.MountSettings[] {
  if (Object.keys(files).length === 0) return [];
  return [{ Type: "volume", Source: "", Target: FILES_FOLDER }];
}

const cappedBy = ({ cpus, memory_bytes, cpuset }: Caps) =>
  definedOnly({
    NanoCpus: cpus === undefined ? undefined : Math.round(cpus * GIGA),
    Memory: memory_bytes,
    // There is no swap, because a run with a store that swaps would measure the disk.
    MemorySwap: memory_bytes,
    CpusetCpus: cpuset,
  });

/** The caps that an engine has applied. It reports 0 and an empty text where there is none. */
export const appliedCaps = ({ NanoCpus, Memory, CpusetCpus }: Docker.HostConfig): Caps =>
  definedOnly({
    cpus: NanoCpus ? NanoCpus / GIGA : undefined,
    memory_bytes: Memory || undefined,
    cpuset: CpusetCpus || undefined,
  });

/** The caps with no more CPUs than a machine has, because an engine refuses more. */
export const podCaps = (caps: Caps, cores: number): Caps =>
  caps.cpus !== undefined && caps.cpus > cores ? { ...caps, cpus: cores } : caps;
