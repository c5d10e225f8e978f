import { randomBytes } from "node:crypto";
import type { Configuration } from "../contract/configuration.js";
import { BenchError, EXIT, environmentError, messageOf } from "../contract/errors.js";
import type { ProbeAction } from "../contract/probe-env.js";
import { type Progress, progressSchema } from "../contract/progress.js";
import { type MeasuredResult, measuredResultSchema } from "../contract/result.js";
import { type ProbeReport, probeReportSchema, type StoreEvidence } from "../contract/store.js";
import type { Part, RunningPart, Runtime } from "../runtimes/types.js";
import { CounterWatch } from "./counters.js";
import type { Lease } from "./lease.js";
import { generatorPart, probePart, serverPart, storeParts } from "./parts.js";

/** What one run needs to know beside its configuration. */
export interface RunOrder {
  configuration: Configuration;
  run: number;
  /** Of the traffic; the same for all configurations of a round, so that they meet the same requests. */
  seed: number;
  warmupS: number;
  workers: number;
}

/** What the run tells while it is under way. */
export interface RunListener {
  phase(text: string): void;
  progress(progress: Progress): void;
  /** A line for the run's own log. */
  log(role: string, line: string): void;
}

/** A part ended although the run needed it: the run failed, and this says which part and why. */
export class PartFailed extends Error {
  readonly role: string;

  constructor(role: string, text: string) {
    super(text);
    this.name = "PartFailed";
    this.role = role;
  }
}

export interface RawRun {
  result: MeasuredResult;
  store?: StoreEvidence;
  /** Roles that only the runtime can see. */
  resources: MeasuredResult["resources"];
  notes: string[];
}

const REQUEST_TIMEOUT_S = 10;
const CLUSTER_TIMEOUT_S = 60;

/** One run on fresh parts: store, server, generator; all of them are given back whatever happens. */
export async function executeRun(
  order: RunOrder,
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
    return await new Stage(order, runtime, start, listener).play();
  } finally {
    await lease.release(started);
  }
}

class Stage {
  readonly #order: RunOrder;
  readonly #runtime: Runtime;
  readonly #start: (part: Part) => Promise<RunningPart>;
  readonly #listener: RunListener;
  /** Parts that must live until the run is over. */
  readonly #needed: RunningPart[] = [];
  /** From here on a failure is one of this run, no longer of a machine that the user must mend first. */
  #measured = false;

  constructor(
    order: RunOrder,
    runtime: Runtime,
    start: (part: Part) => Promise<RunningPart>,
    listener: RunListener,
  ) {
    this.#order = order;
    this.#runtime = runtime;
    this.#start = start;
    this.#listener = listener;
  }

  async play(): Promise<RawRun> {
    const { configuration } = this.#order;
    const { target, workload, limits } = configuration;
    this.#listener.phase("starting");
    const nodes = await allStarted(storeParts(configuration).map(this.#start));
    this.#needed.push(...nodes);
    await this.#probe(nodes, [target.topology === "cluster" ? "form" : "ready"]);

    const runNonce = randomBytes(12).toString("hex");
    const server = await this.#start(
      serverPart({
        target,
        nodes: nodes.map(({ address }) => address),
        limits,
        runNonce,
        ...(workload.complexity === undefined ? {} : { complexity: workload.complexity }),
      }),
    );
    this.#needed.push(server);
    // The server has loaded its scripts by now; emptied and reset, the store counts this run's calls alone.
    const before = await this.#probe(nodes, ["reset", "read", "settings"]);

    const generator = await this.#generate(server, runNonce);
    const watch = new CounterWatch([...nodes, server, generator]);
    this.#follow(generator, watch);
    const result = await this.#resultOf(generator);
    this.#measured = true;
    const after = await this.#probe(nodes, ["read"]);
    const answers = result.requests.total;
    const resources = await watch.resources(this.#runtime.counterSource, result.duration, answers);
    const store = evidenceOf(nodes, before, after);
    return { result, resources, notes: [...watch.failures], ...(store ? { store } : {}) };
  }

  /** Lets the probe do something with the store; a target without a store needs no probe. */
  async #probe(nodes: readonly RunningPart[], actions: readonly ProbeAction[]): Promise<ProbeReport> {
    if (nodes.length === 0) return {};
    const { store, topology } = this.#order.configuration.target;
    const places = nodes.map(({ address }) => address);
    const probe = await this.#start(
      probePart({ nodes: places, store, topology, timeoutS: CLUSTER_TIMEOUT_S }, actions),
    );
    const exit = await this.#whileNeeded(probe.exited);
    if (exit.code !== 0) {
      const text = probe.lastLines().at(-1) ?? `the probe ended with ${exit.code ?? exit.signal}`;
      throw this.#measured ? new PartFailed("store", text) : environmentError(`store: ${text}`);
    }
    return probeReportSchema.parse(JSON.parse(await probe.output()));
  }

  #generate(server: RunningPart, runNonce: string): Promise<RunningPart> {
    const { configuration, seed, warmupS, workers } = this.#order;
    const { host, port } = server.address;
    const { extent } = configuration;
    return this.#start(
      generatorPart({
        url: `http://${host}:${port}`,
        label: configuration.target.label,
        workload: configuration.workload.id,
        traffic: configuration.traffic,
        connections: configuration.load.connections,
        workers: Math.min(workers, configuration.load.connections),
        warmupS,
        seed,
        ...("duration_s" in extent ? { durationS: extent.duration_s } : { requests: extent.requests }),
        timeoutS: REQUEST_TIMEOUT_S,
        runNonce,
        progress: "json",
      }),
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
    const exit = await this.#whileNeeded(generator.exited);
    const last = generator.lastLines().at(-1) ?? "it printed nothing";
    if (exit.code === EXIT.environment) throw environmentError(`generator: ${last}`);
    if (exit.code !== 0) throw new PartFailed("generator", `ended with ${exit.code ?? exit.signal}: ${last}`);
    try {
      return measuredResultSchema.parse(JSON.parse(await generator.output()));
    } catch (error) {
      throw new PartFailed("generator", `printed no valid result: ${messageOf(error).slice(0, 300)}`);
    }
  }

  /** Waits, unless a part that the run needs ends first. */
  async #whileNeeded<Value>(waited: Promise<Value>): Promise<Value> {
    const endings = this.#needed.map(async (part) => {
      const { code, signal } = await part.exited;
      const last = part.lastLines().at(-1);
      throw new PartFailed(
        part.role,
        `ended during the run with ${code ?? signal}${last ? `: ${last}` : ""}`,
      );
    });
    return Promise.race<Value>([waited, ...endings]);
  }
}

/** Waits for all, so that none comes up unnoticed after another has failed. */
async function allStarted(starting: readonly Promise<RunningPart>[]): Promise<RunningPart[]> {
  await Promise.allSettled(starting);
  return Promise.all(starting);
}

function parseProgress(line: string): Progress | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return progressSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function evidenceOf(
  nodes: readonly RunningPart[],
  before: ProbeReport,
  after: ProbeReport,
): StoreEvidence | undefined {
  if (nodes.length === 0) return undefined;
  return {
    nodes: nodes.map(({ role }, index) => {
      const at_start = before.readings?.[index];
      const at_end = after.readings?.[index];
      if (!at_start || !at_end) throw new BenchError(`the probe gave no reading of ${role}`, EXIT.defect);
      return { role, at_start, at_end };
    }),
    settings: before.settings ?? {},
  };
}
