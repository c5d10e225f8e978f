import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "../../../src/runtimes/local/ports.js";
import { isProgram, ROOT } from "../programs.js";
import { storeProgram, until } from "../store.js";
import { type Api, PATH } from "./apis.js";
import { nginxArguments, nginxProgram } from "./nginx.js";

const FOLDER = join(ROOT, "test/helpers/apis");

export interface QuotaOfApi {
  quota: number;
  window_s: number;
}

type Environment = Readonly<Record<string, string>>;

/** An API as processes of its own, with a store of its own where it counts in one. */
export class RunningApi {
  /** The address of its route at each instance. */
  readonly urls: readonly string[];
  /** The commands that take its store away and bring it back, where it has one. */
  readonly outages: Outages | undefined;
  readonly #processes: readonly ChildProcess[];
  readonly #folder: string;

  private constructor(
    urls: readonly string[],
    outages: Outages | undefined,
    processes: readonly ChildProcess[],
    folder: string,
  ) {
    this.urls = urls;
    this.outages = outages;
    this.#processes = processes;
    this.#folder = folder;
  }

  /** @param environment what its program is told in addition, e.g. where a library is installed */
  static async start(
    api: Api,
    quota: QuotaOfApi,
    environment: Environment = {},
  ): Promise<RunningApi> {
    const folder = mkdtempSync(join(tmpdir(), "ratelimit-bench-api-"));
    const store = countsInStore(api) ? await startStore(folder) : undefined;
    const ports = await Promise.all(Array.from({ length: api.instances ?? 1 }, freePort));
    const processes = ports.map((port) =>
      startInstance(api, quota, port, folder, {
        ...environment,
        ...(store && { STORE_PORT: String(store.port) }),
      }),
    );
    const running = new RunningApi(
      ports.map((port) => `http://127.0.0.1:${port}${PATH}`),
      store?.outages,
      store ? [...processes, store.process] : processes,
      folder,
    );
    try {
      await Promise.all(ports.map((port, index) => answers(port, processes[index])));
    } catch (error) {
      await running.stop();
      throw new Error(`${api.name}: ${error instanceof Error ? error.message : error}`);
    }
    return running;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map(ended));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Commands without a shell. */
export type Outages = Readonly<Record<"restarts" | "hangs", { break: string; mend: string }>>;

const countsInStore = ({ program }: Api): boolean =>
  ["wrong-on-store.mjs", "right-rate-limiter-flexible.mjs"].includes(program);

function startInstance(
  api: Api,
  { quota, window_s }: QuotaOfApi,
  port: number,
  folder: string,
  environment: Environment,
): ChildProcess {
  const env = {
    PATH: process.env.PATH,
    PORT: String(port),
    QUOTA: String(quota),
    WINDOW_S: String(window_s),
    DEFECT: api.name,
    ...environment,
  };
  const options = {
    env,
    stdio: ["ignore", "ignore", "inherit"] as ["ignore", "ignore", "inherit"],
  };
  if (api.program === "nginx") {
    const parameters = nginxArguments(folder, { port, quota, window_s, burst: api.burst ?? quota });
    return spawn(nginxProgram() ?? "nginx", parameters, options);
  }
  const interpreter = api.program.endsWith(".py") ? "python3" : process.execPath;
  return spawn(interpreter, [join(FOLDER, api.program)], options);
}

/** A store that nothing but its memory keeps, under a keeper that ends and starts it on demand. */
async function startStore(folder: string) {
  const program = storeProgram("valkey") ?? storeProgram("redis");
  if (!program || !isProgram(program)) throw new Error("no valkey-server: see CONTRIBUTING.md");
  const port = await freePort();
  const parameters = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  const keeper = spawn(
    process.execPath,
    [join(FOLDER, "store-keeper.mjs"), program, ...parameters],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [pid] = (await once(createInterface({ input: keeper.stdout }), "line")) as [string];
  await answers(port, keeper);
  return {
    port,
    process: keeper,
    outages: {
      restarts: { break: `kill -USR1 ${keeper.pid}`, mend: `kill -USR2 ${keeper.pid}` },
      hangs: { break: `kill -STOP ${pid}`, mend: `kill -CONT ${pid}` },
    },
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

/** Resolves once something accepts connections; no request is sent. */
async function answers(port: number, child: ChildProcess | undefined): Promise<void> {
  await until(async () => {
    if (child && hasEnded(child)) throw new Error("it ended before it answered");
    return isOpen(port);
  });
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });

async function ended(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}
