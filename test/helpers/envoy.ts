import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Limits } from "../../src/contract/configuration.js";
import type { ServiceSpec } from "../../src/contract/run-spec.js";
import { freePort } from "../../src/runtimes/local/ports.js";
import { envoyRatelimit } from "../../src/targets/services/envoy-ratelimit/index.js";
import type { StorePlace } from "../../src/targets/target-types.js";
import { isProgram, programOnPath } from "./programs.js";

/** Envoy's rate limit service: $ENVOY_RATELIMIT, else `ratelimit` on PATH. */
export const envoyProgram = (): string | undefined =>
  [process.env.ENVOY_RATELIMIT, programOnPath("ratelimit")].find((file) => file && isProgram(file));

interface Changes {
  /** Of another run. */
  nonce?: string;
  /** Shared with another service, or left by one that has gone. */
  port?: number;
  ports?: Readonly<Record<string, number>>;
  limits?: Partial<Limits>;
  /** In the place of its configuration files. */
  files?: Readonly<Record<string, string>>;
  env?: Readonly<Record<string, string>>;
}

/** The real service on a store, with the configuration and environment that a campaign gives it. */
export class TestEnvoy {
  readonly spec: ServiceSpec;
  readonly #folder = mkdtempSync(join(tmpdir(), "ratelimit-bench-envoy-"));
  readonly #environment: Readonly<Record<string, string>>;
  #process: ChildProcess | undefined;
  #exited: Promise<number | null> = Promise.resolve(null);
  stderr = "";

  private constructor(
    spec: ServiceSpec,
    place: StorePlace,
    limits: Limits,
    { files, env }: Changes,
  ) {
    this.spec = spec;
    for (const [name, text] of Object.entries(files ?? envoyRatelimit.files(limits, spec.nonce))) {
      const path = join(this.#folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    const { host: bind, port, ports = {} } = spec;
    this.#environment = {
      ...envoyRatelimit.environment({ bind, port, ports, files: this.#folder }, place),
      ...env,
    };
  }

  /** @param ready whether to wait until it answers */
  static async start(
    place: StorePlace,
    limits: Limits,
    changes: Changes = {},
    ready = true,
  ): Promise<TestEnvoy> {
    const ports: Record<string, number> = {};
    for (const name of envoyRatelimit.ports)
      ports[name] = changes.ports?.[name] ?? (await freePort());
    const { nonce = "0123456789abcdef", port = await freePort() } = changes;
    const spec = { id: envoyRatelimit.id, nonce, host: "127.0.0.1", port, ports };
    const service = new TestEnvoy(spec, place, { ...limits, ...changes.limits }, changes);
    service.run();
    try {
      if (ready) await envoyRatelimit.ready(spec, performance.now() + 120_000);
      return service;
    } catch (error) {
      await service.stop();
      throw error;
    }
  }

  run(): void {
    const program = envoyProgram();
    if (!program) throw new Error("no ratelimit: set ENVOY_RATELIMIT");
    const child = spawn(program, [], {
      env: this.#environment,
      stdio: ["ignore", "ignore", "pipe"],
    });
    child.stderr?.on("data", (text) => {
      this.stderr += text;
    });
    this.#exited = new Promise((resolve) => child.once("close", (code) => resolve(code)));
    this.#process = child;
  }

  /** Its exit code, once it has ended. */
  get exited(): Promise<number | null> {
    return this.#exited;
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#exited;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
