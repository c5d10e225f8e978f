import { randomBytes } from "node:crypto";
import type { Configuration } from "../../contract/configuration.js";
import { EXIT, environmentError, messageOf } from "../../contract/errors.js";
import type { Phase } from "../../contract/events.js";
import { type Progress, progressSchema } from "../../contract/progress.js";
import { type HostLoad, type MeasuredResult, measuredResultSchema } from "../../contract/result.js";
import type { StoreEvidence, StoreReading } from "../../contract/store.js";
import { served } from "../../judge/counts.js";
import type { Part, RunningPart, Runtime } from "../../runtimes/types.js";
import { parseJson } from "../files/json.js";
import type { RoleCaps } from "../host/machine.js";
import type { Lease } from "../ownership/lease.js";
import { CounterWatch } from "./counters.js";
import { PartFailed, PartSupervisor } from "./part-supervisor.js";
import { generatorPart, serverPart } from "./parts.js";
import { type ExternalStore, type RunStore, storeOf } from "./store.js";

/** The settings of one run. */
interface RunSettings {
  configuration: Configuration;
  /** Of the traffic; the same for all configurations of a round, so that they get the same requests. */
  seed: number;
  warmupS: number;
  workers: number;
  caps: RoleCaps;
  /** The store that the user already runs. */
  external?: ExternalStore;
}

/** Receives what happens during a run. */
export interface RunListener {
  phase(phase: Phase): void;
  progress(progress: Progress): void;
  /** A line for the run's own log. */
  log(role: string, line: string): void;
}

export interface RawRun {
  result: MeasuredResult;
  store?: StoreEvidence;
  /** The resources that the runtime measured, by role. */
  resources: MeasuredResult["resources"];
  host_load?: HostLoad;
  notes: string[];
}

const REQUEST_TIMEOUT_S = 10;

/** Makes one run on a fresh store, server and generator; all of them are stopped whatever happens. */
export async function executeRun(
  settings: RunSettings,
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
    return await new RunExecution(settings, runtime, new PartSupervisor(start), listener).run();
  } finally {
    await lease.release(started);
    listener.phase("stopped");
  }
}

class RunExecution {
  readonly #settings: RunSettings;
  readonly #runtime: Runtime;
  readonly #listener: RunListener;
  readonly #supervisor: PartSupervisor;

  constructor(settings: RunSettings, runtime: Runtime, supervisor: PartSupervisor, listener: RunListener) {
    this.#settings = settings;
    this.#runtime = runtime;
    this.#supervisor = supervisor;
    this.#listener = listener;
  }

  async run(): Promise<RawRun> {
    const { configuration, external, caps } = this.#settings;
    this.#listener.phase("starting");
    const store = storeOf(configuration, external, this.#supervisor, caps.store);
    await store.open();
    this.#listener.phase("store ready");

    const runNonce = randomBytes(12).toString("hex");
    const server = await this.#startServer(store, runNonce);
    // By now the server has loaded its scripts: from here on the store counts only this run's load.
    await store.readBefore();
    this.#listener.phase("server ready");

    const generator = await this.#startGenerator(server, runNonce);
    const watch = new CounterWatch([...store.parts, server, generator]);
    this.#follow(generator, watch);
    const result = await this.#waitForResult(generator);
    const evidence = await store.readAfter();
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

  async #startServer(store: RunStore, runNonce: string): Promise<RunningPart> {
    const { target, workload, limits } = this.#settings.configuration;
    const server = await this.#supervisor.start(
      serverPart(
        {
          target,
          nodes: store.nodes,
          limits,
          runNonce,
          ...(workload.complexity === undefined ? {} : { complexity: workload.complexity }),
          // On an external store the keys of each run have their own prefix, and expire with their window.
          ...(store.access ? { access: store.access, keyPrefix: `ratelimit-bench:${runNonce}` } : {}),
        },
        this.#settings.caps.server,
      ),
    );
    this.#supervisor.watch([server]);
    return server;
  }

  #startGenerator(server: RunningPart, runNonce: string): Promise<RunningPart> {
    const { configuration, seed, warmupS, workers } = this.#settings;
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
        this.#settings.caps.generator,
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
        if (progress.phase === "drained") watch.start();
        if (progress.phase === "finished") watch.stop();
      }
      this.#listener.progress(progress);
    });
    generator.exited.then(() => watch.stop());
  }

  async #waitForResult(generator: RunningPart): Promise<MeasuredResult> {
    const exit = await this.#supervisor.waitFor(generator.exited);
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
 * The CPU time of an external store from before the warm-up to after the last answer. The store may run on this
 * machine, and its CPU time in the window alone is not known.
 */
function cpuUsOf(store: StoreEvidence | undefined): number {
  const used = ({ cpu_user_us, cpu_system_us }: StoreReading): number => cpu_user_us + cpu_system_us;
  return (store?.nodes ?? []).reduce(
    (total, { at_start, at_end }) => total + Math.max(0, used(at_end) - used(at_start)),
    0,
  );
}

const parseProgress = (line: string): Progress | undefined =>
  line.startsWith("{") ? parseJson(line, progressSchema) : undefined;
