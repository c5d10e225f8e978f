import { randomBytes } from "node:crypto";
import type { Configuration } from "../../contract/configuration.js";
import { EXIT, environmentError, messageOf } from "../../contract/errors.js";
import type { Phase } from "../../contract/events.js";
import { type Progress, progressSchema } from "../../contract/progress.js";
import { type HostLoad, type MeasuredResult, measuredResultSchema } from "../../contract/result.js";
import type { StoreEvidence, StoreReading } from "../../contract/store.js";
import { served } from "../../judge/counts.js";
import type { Part, RunningPart, Runtime } from "../../runtimes/types.js";
import type { RoleCaps } from "../host/caps.js";
import type { Lease } from "../ownership/lease.js";
import { CounterWatch } from "./counters.js";
import { PartFailed, PartSupervisor } from "./part-supervisor.js";
import { generatorPart, serverPart } from "./parts.js";
import { type ExternalStore, type RunStore, storeOf } from "./store.js";

/** What one run needs to know beside its configuration. */
export interface RunSettings {
  configuration: Configuration;
  /** Of the traffic; the same for all configurations of a round, so that they meet the same requests. */
  seed: number;
  warmupS: number;
  workers: number;
  caps: RoleCaps;
  /** The store that the user already runs, instead of one of our own. */
  external?: ExternalStore;
}

/** What the run tells while it is under way. */
export interface RunListener {
  phase(phase: Phase): void;
  progress(progress: Progress): void;
  /** A line for the run's own log. */
  log(role: string, line: string): void;
}

export interface RawRun {
  result: MeasuredResult;
  store?: StoreEvidence;
  /** Roles that only the runtime can see. */
  resources: MeasuredResult["resources"];
  host_load?: HostLoad;
  notes: string[];
}

const REQUEST_TIMEOUT_S = 10;

/** One run on fresh parts: store, server, generator; all of them are given back whatever happens. */
export async function executeRun(
  order: RunSettings,
  runtime: Runtime,
  lease: Lease,
  listener: RunListener,
): Promise<RawRun> {
  const started: RunningPart[] = [];
  const start = async (part: Part): Promise<RunningPart> => {
    const running = await lease.start(runtime, part);
    started.push(running);
    running.onLine((line) => listener.log(part.role, line));
    return running;
  };
  try {
    return await new RunExecution(order, runtime, new PartSupervisor(start), listener).play();
  } finally {
    await lease.release(started);
    listener.phase("stopped");
  }
}

class RunExecution {
  readonly #order: RunSettings;
  readonly #runtime: Runtime;
  readonly #listener: RunListener;
  readonly #supervisor: PartSupervisor;

  constructor(order: RunSettings, runtime: Runtime, supervisor: PartSupervisor, listener: RunListener) {
    this.#order = order;
    this.#runtime = runtime;
    this.#supervisor = supervisor;
    this.#listener = listener;
  }

  async play(): Promise<RawRun> {
    const { configuration, external, caps } = this.#order;
    this.#listener.phase("starting");
    const store = storeOf(configuration, external, this.#supervisor, caps.store);
    await store.open();
    this.#listener.phase("store ready");

    const runNonce = randomBytes(12).toString("hex");
    const server = await this.#serve(store, runNonce);
    // The server has loaded its scripts by now: what the store counts from here on is this run's load.
    await store.begin();
    this.#listener.phase("server ready");

    const generator = await this.#generate(server, runNonce);
    const watch = new CounterWatch([...store.parts, server, generator]);
    this.#follow(generator, watch);
    const result = await this.#resultOf(generator);
    const evidence = await store.end();
    this.#listener.phase("read");
    const requests = served(result.server, result.counts);
    const resources = await watch.resources(this.#runtime.counterSource, result.duration, requests);
    const host_load = await watch.hostLoad(
      result.duration,
      result.resources,
      external ? cpuUsOf(evidence) : 0,
    );
    return {
      result,
      resources,
      notes: [...watch.failures],
      ...(host_load ? { host_load } : {}),
      ...(evidence ? { store: evidence } : {}),
    };
  }

  async #serve(store: RunStore, runNonce: string): Promise<RunningPart> {
    const { target, workload, limits } = this.#order.configuration;
    const server = await this.#supervisor.start(
      serverPart(
        {
          target,
          nodes: store.nodes,
          limits,
          runNonce,
          ...(workload.complexity === undefined ? {} : { complexity: workload.complexity }),
          // On somebody else's store the keys of a run have a prefix of their own, and go when their window ends.
          ...(store.access ? { access: store.access, keyPrefix: `ratelimit-bench:${runNonce}` } : {}),
        },
        this.#order.caps.server,
      ),
    );
    this.#supervisor.need([server]);
    return server;
  }

  #generate(server: RunningPart, runNonce: string): Promise<RunningPart> {
    const { configuration, seed, warmupS, workers } = this.#order;
    const { host, port } = server.address;
    const { extent, load } = configuration;
    return this.#supervisor.start(
      generatorPart(
        {
          url: `http://${host}:${port}`,
          label: configuration.target.label,
          workload: configuration.workload.id,
          traffic: configuration.traffic,
          connections: load.connections,
          ...(load.model === "open"
            ? { open: { ratePerSecond: load.rate_per_second, arrivals: load.arrivals } }
            : {}),
          workers: Math.min(workers, load.connections),
          warmupS,
          seed,
          ...("duration_s" in extent ? { durationS: extent.duration_s } : { requests: extent.requests }),
          timeoutS: REQUEST_TIMEOUT_S,
          runNonce,
          progress: "json",
        },
        this.#order.caps.generator,
      ),
    );
  }

  /** Reads counters at the drained moments that the generator announces. */
  #follow(generator: RunningPart, watch: CounterWatch): void {
    generator.onLine((line) => {
      const progress = parseProgress(line);
      if (!progress) return;
      if (progress.event === "phase") {
        this.#listener.phase(progress.phase);
        if (progress.phase === "drained") watch.open();
        if (progress.phase === "finished") watch.close();
      }
      this.#listener.progress(progress);
    });
    generator.exited.then(() => watch.close());
  }

  async #resultOf(generator: RunningPart): Promise<MeasuredResult> {
    const exit = await this.#supervisor.whileNeeded(generator.exited);
    const last = generator.lastLines().at(-1) ?? "it printed nothing";
    if (exit.code === EXIT.environment) throw environmentError(`generator: ${last}`);
    if (exit.code !== 0) throw new PartFailed("generator", `ended with ${exit.code ?? exit.signal}: ${last}`);
    try {
      return measuredResultSchema.parse(JSON.parse(await generator.output()));
    } catch (error) {
      throw new PartFailed("generator", `printed no valid result: ${messageOf(error).slice(0, 300)}`);
    }
  }
}

/**
 * What a store that was there before used from before the warm-up to after the last answer: it may run on this machine,
 * and its part in the window is not known.
 */
function cpuUsOf(store: StoreEvidence | undefined): number {
  const used = ({ cpu_user_us, cpu_system_us }: StoreReading): number => cpu_user_us + cpu_system_us;
  return (store?.nodes ?? []).reduce(
    (total, { at_start, at_end }) => total + Math.max(0, used(at_end) - used(at_start)),
    0,
  );
}

function parseProgress(line: string): Progress | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return progressSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
