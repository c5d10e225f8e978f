import { type ChildProcess, spawn } from "node:child_process";
import { freePort } from "../../src/runtimes/local/ports.js";
import { findStore, findTopology } from "../../src/targets/resolve.js";
import { findEngine } from "../../src/targets/stores/engines.js";
import type { StorePlace } from "../../src/targets/target-types.js";
import { isProgram, programOnPath } from "./programs.js";
import { until } from "./store.js";

/** Stores that decide themselves. */
export type DecidingStore = "throttlecrab" | "gubernator";

/** Its program: e.g. $THROTTLECRAB_SERVER, else the one on PATH. Undefined where there is none. */
export const decidingProgram = (id: DecidingStore): string | undefined =>
  [process.env[`${id.toUpperCase()}_SERVER`], programOnPath(findStore(id).program ?? "")].find(
    (file) => file && isProgram(file),
  );

/** One process on free loopback ports, with the arguments and the environment of the harness. */
export class TestDecidingServer {
  readonly place: StorePlace;
  readonly #id: DecidingStore;
  readonly #arguments: readonly string[];
  readonly #environment: Readonly<Record<string, string>>;
  #process: ChildProcess | undefined;

  private constructor(
    id: DecidingStore,
    port: number,
    ports: { http: number; grpc: number },
    more: readonly string[],
  ) {
    const host = "127.0.0.1";
    this.#id = id;
    this.place = { store: id, topology: "standalone", nodes: [{ host, port, ports }] };
    const allocation = { bind: host, port, secondPort: 0, folder: "", ports };
    const engine = findEngine(id);
    this.#arguments = [
      ...engine.nodeArguments(findStore(id), findTopology("standalone"), allocation),
      ...more,
    ];
    this.#environment = engine.nodeEnvironment?.(allocation) ?? {};
  }

  static async start(id: DecidingStore, more: readonly string[] = []): Promise<TestDecidingServer> {
    const port = await freePort();
    const ports = { http: await freePort(), grpc: await freePort() };
    const server = new TestDecidingServer(id, port, ports, more);
    await server.run();
    return server;
  }

  /**
   * Starts the process, the first time or again on the same ports; resolves once it decides.
   * @param environment in addition; then nothing is waited for
   */
  async run(environment?: Readonly<Record<string, string>>): Promise<void> {
    const program = decidingProgram(this.#id);
    if (!program) throw new Error(`no ${this.#id}: set ${this.#id.toUpperCase()}_SERVER`);
    const env = { ...this.#environment, ...environment };
    this.#process = spawn(program, this.#arguments, { stdio: "ignore", env });
    const session = await findEngine(this.#id).connect(this.place.nodes, {});
    if (!environment) await session.ready("standalone", performance.now() + 120_000);
  }

  /** As the harness reads it. */
  async decisions(): Promise<number> {
    const session = await findEngine(this.#id).connect(this.place.nodes, {});
    const [reading] = await session.read(findStore(this.#id));
    return reading?.decisions ?? Number.NaN;
  }

  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    const child = this.#process;
    if (!child) return;
    child.kill("SIGKILL");
    await until(() => child.exitCode !== null || child.signalCode !== null);
  }
}
