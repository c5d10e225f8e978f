import { type ChildProcess, spawn } from "node:child_process";
import { freePort } from "../../src/runtimes/local/ports.js";
import { findStore, findTopology } from "../../src/targets/resolve.js";
import { findEngine } from "../../src/targets/stores/engines.js";
import type { StorePlace } from "../../src/targets/types.js";
import { isProgram, programOnPath } from "./programs.js";
import { until } from "./store.js";

/** The program: $THROTTLECRAB_SERVER, else the one on PATH. Undefined where there is none. */
export const throttlecrabProgram = (): string | undefined =>
  [process.env.THROTTLECRAB_SERVER, programOnPath("throttlecrab-server")].find(
    (file) => file && isProgram(file),
  );

/** One ThrottleCrab process on free loopback ports, with the arguments of the harness. */
export class TestThrottleCrab {
  readonly place: StorePlace;
  readonly #arguments: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(port: number, ports: { http: number; grpc: number }, more: readonly string[]) {
    const host = "127.0.0.1";
    this.place = { store: "throttlecrab", topology: "standalone", nodes: [{ host, port, ports }] };
    const allocation = { bind: host, port, secondPort: 0, folder: "", ports };
    const engine = findEngine("throttlecrab");
    const store = findStore("throttlecrab");
    this.#arguments = [...engine.nodeArguments(store, findTopology("standalone"), allocation), ...more];
  }

  static async start(more: readonly string[] = []): Promise<TestThrottleCrab> {
    const port = await freePort();
    const ports = { http: await freePort(), grpc: await freePort() };
    const server = new TestThrottleCrab(port, ports, more);
    await server.run();
    return server;
  }

  /** Starts the process, the first time or again on the same ports; resolves once it answers. */
  async run(): Promise<void> {
    const program = throttlecrabProgram();
    if (!program) throw new Error("no throttlecrab-server: set THROTTLECRAB_SERVER");
    this.#process = spawn(program, this.#arguments, { stdio: "ignore" });
    const session = await findEngine("throttlecrab").connect(this.place.nodes, {});
    await session.ready("standalone", Date.now() + 120_000);
  }

  /** As the harness reads it. */
  async decisions(): Promise<number> {
    const session = await findEngine("throttlecrab").connect(this.place.nodes, {});
    const [reading] = await session.read(findStore("throttlecrab"));
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
