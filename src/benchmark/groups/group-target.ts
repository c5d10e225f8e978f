import type { GeneratorRunSpec } from "../../contract/generator-env.js";
import type { PluginIdentity } from "../../contract/plugins.js";
import type { Usage } from "../../contract/server-api.js";
import { messageOf } from "../../kit/errors.js";
import { type Consumers, readDrained } from "../measurement/consumers.js";
import { generatorAsConsumer } from "../measurement/generator-readings.js";
import { identifyServers } from "../measurement/server-readings.js";
import type { WorkerPool } from "../workers/worker-pool.js";

/** A target of a group, with the processes that call its limiter. */
export class GroupTarget {
  readonly spec: GeneratorRunSpec;
  readonly #drain_ms: number;
  #consumers: Consumers | undefined;
  #failure: string | undefined;

  private constructor(spec: GeneratorRunSpec, consumers: Consumers | undefined) {
    this.spec = spec;
    this.#drain_ms = 1000 * spec.generator.timeout_s;
    this.#consumers = consumers;
  }

  static async identify(spec: GeneratorRunSpec): Promise<GroupTarget> {
    const { servers } = spec.generator;
    return new GroupTarget(spec, servers.length > 0 ? await identifyServers(servers) : undefined);
  }

  /** Takes that the workers of this process call the limiter. */
  async consumeInWorkers(plugins: readonly PluginIdentity[], pool: WorkerPool): Promise<void> {
    this.#consumers = await generatorAsConsumer(this.spec, plugins, () => pool.read());
  }

  /** It is undefined for servers that are not ours. */
  get consumers(): Consumers | undefined {
    return this.#consumers;
  }

  /** Why it has no result. */
  get failure(): string | undefined {
    return this.#failure;
  }

  read(): Promise<Usage[] | undefined> {
    return this.#reading((consumers) => consumers.read());
  }

  /** Reads the counters once no consumer has a request in flight. */
  readDrained(): Promise<Usage[] | undefined> {
    return this.#reading((consumers) => readDrained(consumers, this.#drain_ms));
  }

  /** It is undefined where nothing is read. If the target no longer answers, it alone fails. */
  async #reading(read: (consumers: Consumers) => Promise<Usage[]>): Promise<Usage[] | undefined> {
    if (!this.#consumers) return undefined;
    try {
      return await read(this.#consumers);
    } catch (error) {
      this.#failure ??= messageOf(error);
      return undefined;
    }
  }
}
