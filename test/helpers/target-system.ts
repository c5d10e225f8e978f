import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Limits } from "../../src/contract/configuration.js";
import type { ServiceSpec } from "../../src/contract/run-spec.js";
import { type Target, usesStore } from "../../src/contract/target.js";
import { definedOnly } from "../../src/kit/defined-only.js";
import type { NodePlace } from "../../src/kit/env.js";
import { findProgram } from "../../src/runtimes/local/local-programs.js";
import { freePort } from "../../src/runtimes/local/ports.js";
import { findModule } from "../../src/targets/modules/index.js";
import { describeClient, findStore } from "../../src/targets/resolve.js";
import { findService, services } from "../../src/targets/services/index.js";
import { findEngine } from "../../src/targets/stores/engines.js";
import type { StorePlace, StoreSession } from "../../src/targets/target-types.js";
import { findTopology } from "../../src/targets/topologies.js";
import { isProgram, programOnPath } from "./programs.js";
import { type StoreKind, storeProgram } from "./store.js";

const START_MS = 120_000;
const TESTED: readonly string[] = ["valkey", "redis", "memcached"] satisfies StoreKind[];

/** $<ID>_SERVER or $<ID>, else the program on PATH. */
function programOf(id: string, name: string): string | undefined {
  if (TESTED.includes(id)) return storeProgram(id as StoreKind);
  const variable = id.toUpperCase().replaceAll("-", "_");
  const named = process.env[`${variable}_SERVER`] ?? process.env[variable];
  return [named, programOnPath(name)].find((file) => file && isProgram(file));
}

/** What is missing on this machine to run a target. It is undefined where nothing is. */
export function missingFor(target: Target): string | undefined {
  const store = findStore(target.store);
  const module = target.module === undefined ? undefined : findModule(target.module);
  const service = target.service === undefined ? undefined : findService(target.service);
  const named = module && process.env[module.variable];
  return [
    store.program !== undefined && !programOf(store.id, store.program) && store.program,
    module && !named && `$${module.variable}`,
    service && !programOf(service.id, service.program) && service.program,
  ].find((text): text is string => typeof text === "string");
}

/**
 * The version of the target's service, or of its store's program. It is empty where it cannot be
 * read.
 */
export async function programVersion(id: string): Promise<string> {
  const { program, withoutVersionFlag }: { program?: string; withoutVersionFlag?: true } =
    services.find((service) => service.id === id) ?? findStore(id);
  const path = program && programOf(id, program);
  if (!path) return "";
  const source = definedOnly({ command: program, path, withoutVersionFlag });
  return (await findProgram(source, async () => undefined))?.version ?? "";
}

/** One process in a folder of its own. */
class Process {
  readonly #start: () => ChildProcess;
  #child: ChildProcess | undefined;

  /** @param env instead of our own environment */
  constructor(program: string, args: readonly string[], env?: Readonly<Record<string, string>>) {
    this.#start = () => spawn(program, [...args], { stdio: "ignore", ...definedOnly({ env }) });
  }

  run(): void {
    this.#child = this.#start();
    this.#child.once("error", () => undefined);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await exited;
  }
}

/**
 * All that a target needs to decide, as its descriptions say: store nodes with modules, and a
 * service before them.
 */
export class TargetSystem {
  readonly place: StorePlace;
  readonly #folder: string;
  readonly #nodes: readonly Process[];
  readonly #service: Process | undefined;

  private constructor(
    place: StorePlace,
    folder: string,
    nodes: readonly Process[],
    service?: Process,
  ) {
    this.place = place;
    this.#folder = folder;
    this.#nodes = nodes;
    this.#service = service;
  }

  /** @throws Error where something is missing, see `missingFor` */
  static async start(target: Target, limits: Limits): Promise<TargetSystem> {
    const folder = mkdtempSync(join(tmpdir(), "ratelimit-bench-system-"));
    const { nodes, processes } = usesStore(target)
      ? await storeNodes(target, folder)
      : { nodes: [], processes: [] };
    const place: StorePlace = { store: target.store, topology: target.topology, nodes };
    const service =
      target.service === undefined ? undefined : await serviceOf(target, place, limits, folder);
    const whole = service ? { ...place, service: service.spec } : place;
    const system = new TargetSystem(whole, folder, processes, service?.process);
    try {
      await system.run(true);
      return system;
    } catch (error) {
      await system.stop();
      throw error;
    }
  }

  /** Starts the store's processes; the first time also forms a cluster, and starts the service. */
  async run(first = false): Promise<void> {
    const deadline = Date.now() + START_MS;
    for (const node of this.#nodes) node.run();
    if (this.#nodes.length > 0) {
      await this.session(async (session) => {
        if (first && this.#nodes.length > 1) await session.form(this.place.topology, deadline);
        await session.ready(this.place.topology, deadline);
      });
    }
    const { service } = this.place;
    if (!first || !service) return;
    this.#service?.run();
    await findService(service.id).ready(service, deadline);
  }

  /** Ends the store's processes as a crash does. */
  async kill(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.kill()));
  }

  async stop(): Promise<void> {
    await this.#service?.kill();
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Runs `work` on connections of its own, once every node answers. */
  async session<Result>(work: (session: StoreSession) => Promise<Result>): Promise<Result> {
    const { engine = "" } = findStore(this.place.store);
    const session = await findEngine(engine).connect(this.place.nodes, {});
    try {
      await session.ready("standalone", performance.now() + START_MS);
      return await work(session);
    } finally {
      session.close();
    }
  }
}

async function storeNodes(
  target: Target,
  folder: string,
): Promise<{ nodes: NodePlace[]; processes: Process[] }> {
  const store = findStore(target.store);
  const topology = findTopology(target.topology);
  const program = programOf(store.id, store.program ?? "");
  if (!program || store.engine === undefined) throw new Error(`no ${store.program}`);
  const module = target.module === undefined ? undefined : findModule(target.module);
  const { storeArguments = [] } = describeClient(target);
  const nodes: NodePlace[] = [];
  const processes: Process[] = [];
  for (let index = 0; index < topology.primaries + topology.replicas; index++) {
    const nodeFolder = join(folder, `store-${index + 1}`);
    mkdirSync(nodeFolder);
    const ports: Record<string, number> = {};
    for (const name of store.ports ?? []) ports[name] = await freePort();
    const [port, secondPort] = [await freePort(), await freePort()];
    const engine = findEngine(store.engine);
    const allocation = { bind: "127.0.0.1", port, secondPort, folder: nodeFolder, ports };
    const args = [...engine.nodeArguments(store, topology, allocation), ...storeArguments];
    if (module) args.push("--loadmodule", process.env[module.variable] ?? "");
    nodes.push({
      host: "127.0.0.1",
      port,
      ...definedOnly({ ports: store.ports ? ports : undefined }),
    });
    processes.push(new Process(program, args, engine.nodeEnvironment?.(allocation)));
  }
  return { nodes, processes };
}

async function serviceOf(
  target: Target,
  place: StorePlace,
  limits: Limits,
  folder: string,
): Promise<{ spec: ServiceSpec; process: Process }> {
  const service = findService(target.service ?? "");
  const program = programOf(service.id, service.program);
  if (!program) throw new Error(`no ${service.program}`);
  const nonce = "0123456789abcdef";
  const files = join(folder, "service");
  for (const [name, text] of Object.entries(service.files(limits, nonce))) {
    mkdirSync(dirname(join(files, name)), { recursive: true });
    writeFileSync(join(files, name), text);
  }
  const ports: Record<string, number> = {};
  for (const name of service.ports) ports[name] = await freePort();
  const spec: ServiceSpec = {
    id: service.id,
    nonce,
    host: "127.0.0.1",
    port: await freePort(),
    ports,
  };
  const allocation = { bind: spec.host, port: spec.port, ports, files };
  const { serviceEnvironment = {} } = describeClient(target);
  const process = new Process(program, service.arguments?.(allocation, place) ?? [], {
    ...service.environment(allocation, place),
    ...serviceEnvironment,
  });
  return { spec, process };
}
