import { mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { allowedCpus } from "../../kit/control-groups.js";
import { definedOnly } from "../../kit/defined-only.js";
import { askDirectly } from "../../kit/direct-http.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import { ownPrograms, programEnvironment, requireVersion } from "../own-programs.js";
import { ReadyQuestion, waitUntilReady } from "../readiness.js";
import {
  type Caps,
  type FoundProgram,
  type Part,
  type PartAllocation,
  type PartFaults,
  type ProgramSource,
  type RunningPart,
  type Runtime,
  type RuntimeDescription,
  type RuntimeOptions,
  textOf,
} from "../runtime-types.js";
import { embeddedVersion, findProgram } from "./local-programs.js";
import { freePort } from "./ports.js";
import { type Launch, LocalPart, spawnProgram } from "./process-part.js";
import { ensurePythonEnvironment, findPythonEnvironment } from "./python-environment.js";

/** What programs print whose port another one has. */
const PORT_TAKEN = /EADDRINUSE|address already in use/i;
/** In which a store that cannot have its port has ended. */
const BINDS_WITHIN_MS = 200;

const HOST = "127.0.0.1";

function workingFolderOf(
  { workingFolder }: Part,
  packageFolder: string,
  ownFolder: string,
): string {
  if (typeof workingFolder === "object") return workingFolder.path;
  return workingFolder === "package" ? packageFolder : ownFolder;
}

/** The variables of a part. Those that a person has set win over the defaults of our own parts. */
function variablesOf(part: Part, allocation: PartAllocation): Record<string, string> {
  const { NODE_ENV = "production", PATH = "", ...others } = process.env;
  if (!part.inheritsVariables) return { PATH, ...programEnvironment(part, allocation) };
  return { NODE_ENV, PATH, ...definedOnly(others), ...part.environment(allocation) };
}

/**
 * Puts files into a folder: texts are written, files of this machine linked. @returns the folder
 */
async function placeFiles(folder: string, files: Part["files"] = {}): Promise<string> {
  for (const [name, file] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await ("path" in file
      ? symlink(resolve(file.path), path)
      : writeFile(path, await textOf(file, HOST), { mode: 0o600 }));
  }
  return folder;
}

const missing = ({ id, command }: ProgramSource): string => {
  const reason = `no ${command} was found on this machine`;
  // Nobody could tell from its name what it is.
  return command.includes(id)
    ? reason
    : `${reason}: name it with --program ${id}=PATH, or use containers`;
};

const FAULTS: PartFaults = {
  kill: true,
  pause: true,
  disconnect:
    "processes of this machine share its network, and nothing can be cut off without privileges: use containers",
};

/** No cap can be applied to a process of this machine. */
const appliedCaps = (): Caps => ({});

function localRuntime(
  { packageFolder, workFolder, plugins = [], versions }: RuntimeOptions,
  /** The programs, or why they are not here, by id. */
  programs: ReadonlyMap<string, FoundProgram | string>,
): Runtime {
  const programOf = (id: string) => programs.get(id) ?? `this campaign does not use ${id}`;
  async function startOnce(
    part: Part,
    program: FoundProgram,
    onBegun: (part: RunningPart) => Promise<void>,
  ) {
    const folder = await mkdtemp(join(workFolder, `${part.role}-`));
    const ports: Record<string, number> = {};
    for (const name of part.ports ?? []) ports[name] = await freePort();
    const allocation: PartAllocation = definedOnly({
      host: HOST,
      bind: HOST,
      port: await freePort(),
      secondPort: await freePort(),
      ports,
      folder,
      files: await placeFiles(join(folder, "files"), part.files),
      plugins: plugins.map(({ path }) => path),
      versions: versions?.folder,
    });
    const cwd = workingFolderOf(part, packageFolder, folder);
    const env = variablesOf(part, allocation);
    const stdin = part.interactive || part.takesInput ? "pipe" : "ignore";
    const { host, port } = allocation;
    const question = new ReadyQuestion(part, `which was ${port}`, ({ path, headers }) =>
      askDirectly(`http://${host}:${port}${path}`, {
        timeout_ms: 2_000,
        ...definedOnly({ headers }),
      }),
    );
    const launch: Launch = {
      spawn: () => spawnProgram(program.path, part.arguments(allocation), cwd, env, stdin),
      isAnswered: () => question.ask(),
      path: program.path,
    };
    const running = await LocalPart.begin(part, allocation, launch);
    try {
      await onBegun(running);
      // Its probe would only say later that it has ended.
      if (part.kind === "store") await Promise.race([running.exited, sleep(BINDS_WITHIN_MS)]);
      const shown = { name: part.name, answer: () => question.text() };
      if (!part.endsByItself) await waitUntilReady(running, launch.isAnswered, undefined, shown);
    } catch (error) {
      await running.stop();
      throw error;
    }
    return running;
  }
  return {
    id: "local",
    capsApplied: false,
    counterSource: "pidusage",
    appliedCaps,
    program: programOf,
    partFaults: async () => FAULTS,
    /** A port that was taken since it was chosen is chosen anew once. */
    async start(part, onBegun) {
      const program = programOf(part.program);
      if (typeof program === "string") throw environmentError(program);
      try {
        return await startOnce(part, program, onBegun);
      } catch (error) {
        if (!PORT_TAKEN.test(`${messageOf(error)} ${messageOf((error as Error).cause)}`))
          throw error;
        return startOnce(part, program, onBegun);
      }
    },
    async close() {},
  };
}

/**
 * What `open` would find. It makes a Python environment where there is none yet, and that brings a
 * store.
 */
async function expectedProgram(
  program: ProgramSource,
  packageFolder: string,
): Promise<FoundProgram | undefined> {
  let isMissing = false;
  const existing = await findProgram(program, async () => {
    const environment = await findPythonEnvironment(packageFolder);
    isMissing = environment === undefined;
    return environment;
  });
  const version = isMissing ? await embeddedVersion(packageFolder, program.command) : undefined;
  return (
    existing ?? (version ? { path: "the embedded Valkey", version, embedded: true } : undefined)
  );
}

/** Processes on loopback ports of this machine, without caps. */
export const local: RuntimeDescription = {
  id: "local",
  available: async () => ({ what: "processes of this machine" }),
  platform: async () => ({ system: process.platform, architecture: process.arch }),
  cpus: async () => allowedCpus().length || availableParallelism(),
  appliedCaps,
  partFaults: FAULTS,
  async has(program, { packageFolder }) {
    const expected = await expectedProgram(program, packageFolder);
    if (!expected) return missing(program);
    requireVersion(program, expected);
    return true;
  },
  async open(options) {
    const { packageFolder, workFolder, onSetupStep, signal } = options;
    await mkdir(workFolder, { recursive: true });
    const node: FoundProgram = {
      path: process.execPath,
      version: process.versions.node,
      embedded: false,
    };
    const programs = new Map<string, FoundProgram | string>(ownPrograms.map((id) => [id, node]));
    let setup: Promise<string | undefined> | undefined;
    const environment = () =>
      (setup ??= ensurePythonEnvironment(packageFolder, onSetupStep, signal));
    for (const source of options.programs)
      programs.set(source.id, (await findProgram(source, environment)) ?? missing(source));
    return localRuntime(options, programs);
  },
  /** Leases name the processes before they do anything. */
  leftovers: async () => [],
  outdated: async () => [],
};
