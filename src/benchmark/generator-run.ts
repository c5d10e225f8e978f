import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { RequestCounts } from "../contract/admissions.js";
import { AUTO_WARMUP, LEAD_IN_S } from "../contract/configuration.js";
import type { GeneratorRunSpec } from "../contract/generator-env.js";
import type { GeneratorOutput } from "../contract/generator-output.js";
import type { NetworkLink, Sample } from "../contract/generator-part.js";
import type { PluginIdentity } from "../contract/plugins.js";
import { type Progress, type ReadingPhase, STEADY, WAITING } from "../contract/progress.js";
import type { MeasuredResult } from "../contract/result.js";
import type { Usage } from "../contract/server-api.js";
import { WarmupWatch } from "../judge/warmup-watch.js";
import { definedOnly } from "../kit/defined-only.js";
import { usageError } from "../kit/errors.js";
import { rounded, sum } from "../kit/numbers.js";
import { ClockComparison } from "../kit/system-clock.js";
import { findProfile, findWorkload } from "../traffic/lookup.js";
import { isReplayed } from "../traffic/prediction.js";
import { loadDriver } from "./drivers/index.js";
import type { Window } from "./load-loop.js";
import { AnswerLog } from "./measurement/answer-timeline.js";
import { monotonicMs } from "./measurement/clock.js";
import { type Consumers, readDrained } from "./measurement/consumers.js";
import { generatorAsConsumer } from "./measurement/generator-readings.js";
import { ServerMonitor, type ServerSample } from "./measurement/monitor.js";
import { bytesBetween, readNetworkLinks } from "./measurement/network-links.js";
import type { WorkerSample } from "./measurement/recorder.js";
import { SampleMerger } from "./measurement/samples.js";
import { identifyServers, readDiagnoses } from "./measurement/server-readings.js";
import { idleCpuMs, sharesWakes } from "./open-loop/shared-wakes.js";
import { ReadingWaits } from "./reading-waits.js";
import { buildResult, shareOutput } from "./results.js";
import {
  type BetweenSlices,
  type WarmupLoad,
  type WarmupTotals,
  warmUpUntilSteady,
} from "./warmup.js";
import type { Measured } from "./workers/protocol.js";
import { WorkerPool } from "./workers/worker-pool.js";

/**
 * The time that the command takes to reach all workers, so that they open their windows together.
 */
const START_DELAY_MS = 20;

/** How long before the window the servers are read for its first second. */
const MONITOR_LEAD_MS = 100;

type Warmup = MeasuredResult["warmup"];

type SecondEvent = Extract<Progress, { event: "second" }>;

/**
 * The seconds of the warm-up's end, which follows the reading of the counters. They are at
 * most half of the warm-up.
 */
const leadInS = (warmup_s: GeneratorRunSpec["generator"]["warmup_s"]): number =>
  warmup_s === "auto" ? LEAD_IN_S : Math.min(LEAD_IN_S, warmup_s / 2);

/** Reads the counters at a drained moment; undefined where another generator reads them. */
type ReadConsumers = () => Promise<readonly Usage[] | undefined>;

interface WarmupOfRun {
  warmup: Omit<Warmup, "lead_in">;
  /** When it began. It is absent without a warm-up. */
  began_ms?: number;
  /** Whether the sends of the window share wakes. */
  shared_wakes: boolean;
}

/** Makes the load of the warm-up, without its lead-in. */
async function warmUp(
  generator: GeneratorRunSpec["generator"],
  pool: WorkerPool,
  phases: Phases,
  read: ReadConsumers,
): Promise<WarmupOfRun> {
  const { warmup_s } = generator;
  if (warmup_s === 0) return { warmup: { took_s: 0, requests: 0 }, shared_wakes: true };

  const began_ms = monotonicMs();
  const isUntilSteady = warmup_s === "auto" && !keepsItsSchedule(generator);
  const isOpen = generator.load.model === "open";
  const closed =
    isUntilSteady && isOpen ? await warmUpClosed(generator, pool, phases, read) : undefined;

  const idleBefore = idleCpuMs();
  const own_ms = monotonicMs();
  const warmup = isUntilSteady
    ? await untilSteady(generator, (seconds) => pool.warmUp(seconds), phases, read)
    : await pool.warmUp(exactSeconds(warmup_s));
  const idleAfter = idleCpuMs();
  const idle_ms =
    idleBefore === undefined || idleAfter === undefined ? undefined : idleAfter - idleBefore;

  return {
    warmup: definedOnly({
      took_s: rounded(warmup.took_s + (closed?.took_s ?? 0), 3),
      requests: warmup.requests + (closed?.requests ?? 0),
      closed,
      steady: "steady" in warmup ? warmup.steady : undefined,
    }),
    began_ms,
    shared_wakes: sharesWakes(idle_ms, monotonicMs() - own_ms),
  };
}

/**
 * Whether the requests of a load keep their times, because a quota or a trace says which is sent
 * when. So `auto` neither pauses their schedule nor sends other requests before it.
 */
const keepsItsSchedule = ({ traffic, load }: GeneratorRunSpec["generator"]): boolean =>
  findProfile(traffic).binding !== undefined || isReplayed(load);

/** The seconds of a warm-up whose length is known, without its lead-in. */
const exactSeconds = (warmup_s: GeneratorRunSpec["generator"]["warmup_s"]): number =>
  warmup_s === "auto" ? AUTO_WARMUP.max_s : warmup_s - leadInS(warmup_s);

/** The first part of the warm-up of an open loop, whose rate may need minutes to warm up a target. */
async function warmUpClosed(
  generator: GeneratorRunSpec["generator"],
  pool: WorkerPool,
  phases: Phases,
  read: ReadConsumers,
): Promise<NonNullable<Warmup["closed"]>> {
  const watch = new WarmupWatch("closed", fewestRequests(generator));
  const load = (seconds: number) => pool.warmUp(seconds, true);
  return warmUpUntilSteady(load, watch, { read, mayEnd: phases.jointEnd() });
}

async function untilSteady(
  generator: GeneratorRunSpec["generator"],
  load: (seconds: number) => Promise<WarmupLoad>,
  phases: Phases,
  read: ReadConsumers,
): Promise<WarmupTotals & { steady: boolean }> {
  const { model } = generator.load;
  // An open loop has sent them as a closed one.
  const watch = new WarmupWatch(model, model === "open" ? 0 : fewestRequests(generator));
  const warmup = await warmUpUntilSteady(load, watch, { read, mayEnd: phases.jointEnd() });
  return { ...warmup, steady: watch.isSteady };
}

const fewestRequests = ({ share }: GeneratorRunSpec["generator"]): number =>
  AUTO_WARMUP.min_requests / (share?.of ?? 1);

/**
 * Tells the orchestrator at which moment a run is. Where the counters are read from outside, the
 * run goes on only when the standard input says that they are read.
 */
class Phases {
  readonly #report: (progress: Progress) => void;
  readonly #waits: ReadingWaits | undefined;
  readonly #isShared: boolean;

  constructor(
    { waits_for_readings, share }: GeneratorRunSpec["generator"],
    report: (progress: Progress) => void,
    input: Readable,
  ) {
    this.#report = report;
    this.#waits = waits_for_readings ? new ReadingWaits(report, input) : undefined;
    this.#isShared = share !== undefined;
  }

  get areReadOutside(): boolean {
    return this.#waits !== undefined;
  }

  async drained(phase: ReadingPhase): Promise<void> {
    if (this.#waits) await this.#waits.at(phase);
    else this.#report({ event: "phase", phase });
  }

  /**
   * Waits until all generators have come to this moment, so that the servers are idle, or stay idle
   * until they are read.
   */
  async allGenerators(): Promise<void> {
    if (this.#isShared) await this.#waits?.at(WAITING);
  }

  /** How the generators of a run end a part of their warm-up together. */
  jointEnd(): BetweenSlices["mayEnd"] {
    const waits = this.#waits;
    if (!this.#isShared || !waits) return async (isOver) => isOver;

    const timesBefore = waits.timesSteady;
    let isAnnounced = false;
    return async (isOver) => {
      if (isOver && !isAnnounced) this.#report({ event: "phase", phase: STEADY });
      isAnnounced ||= isOver;
      await this.allGenerators();
      return waits.timesSteady > timesBefore;
    };
  }

  close(): void {
    this.#waits?.close();
  }
}

/** What a run measured from the opening of its window to the last answer. */
interface MeasuredWindow {
  workers: Awaited<ReturnType<WorkerPool["measure"]>>;
  lead_in_s: number;
  generatorCpuUs: number;
  links: NetworkLink[];
}

/** Keeps what the steps of `runGenerator` share. */
class GeneratorRun {
  readonly phases: Phases;
  readonly #spec: GeneratorRunSpec;
  readonly #report: (progress: Progress) => void;
  readonly #servers: Consumers | undefined;
  readonly #pool: WorkerPool;
  readonly #merger: SampleMerger;
  readonly #answers: AnswerLog | undefined;
  #monitor: ServerMonitor | undefined;
  #opens_ms = 0;

  /** @param servers ours, unless another generator reads them */
  constructor(
    spec: GeneratorRunSpec,
    servers: Consumers | undefined,
    report: (progress: Progress) => void,
    input: Readable,
  ) {
    const { workers, share, timeline } = spec.generator;
    this.#spec = spec;
    this.#report = report;
    this.#servers = servers;
    this.#merger = new SampleMerger(workers, share !== undefined);
    this.#answers = timeline ? new AnswerLog(workers) : undefined;
    this.#pool = new WorkerPool([[spec]], (worker, sample) => this.#addSample(worker, sample));
    this.phases = new Phases(spec.generator, report, input);
  }

  #addSample(worker: number, sample: WorkerSample): void {
    this.#answers?.add(worker, sample.latencies_us);
    const interval = this.#merger.add(worker, sample, this.#opens_ms);
    if (interval) this.#report(secondEvent(interval, this.#monitor?.recent(monotonicMs())));
  }

  get answers(): AnswerLog | undefined {
    return this.#answers;
  }

  get monitor(): ServerMonitor | undefined {
    return this.#monitor;
  }

  get opens_ms(): number {
    return this.#opens_ms;
  }

  /** The samples of the window, second by second, with the readings of the servers. */
  samples(): Sample[] {
    return this.#merger.rows(this.#monitor?.samples ?? [], this.#opens_ms);
  }

  latencies(): Uint32Array[][] {
    return this.#merger.latencies();
  }

  /** Connects all workers. @returns the processes whose counters belong to this run */
  async connect(plugins: readonly PluginIdentity[]): Promise<Consumers | undefined> {
    await this.#pool.connect();
    await this.phases.drained("connected");
    if (this.#spec.generator.servers.length > 0) return this.#servers;
    return generatorAsConsumer(this.#spec, plugins, () => this.#pool.read());
  }

  async warmUp(read: ReadConsumers): Promise<WarmupOfRun> {
    const { generator } = this.#spec;
    if (generator.warmup_s !== 0) this.#report({ event: "phase", phase: "warmup" });
    return warmUp(generator, this.#pool, this.phases, read);
  }

  /** Measures the window, after its lead-in. */
  async measure(shared_wakes: boolean): Promise<MeasuredWindow> {
    const { extent, servers, warmup_s } = this.#spec.generator;
    if (this.#servers) this.#monitor = new ServerMonitor(servers.map(({ url }) => url));
    const linksBefore = await readNetworkLinks();
    const cpuBefore = process.cpuUsage();
    let cpu = cpuBefore;
    let links: NetworkLink[] = [];
    const lead_in_ms = 1000 * leadInS(warmup_s);
    this.#opens_ms = monotonicMs() + START_DELAY_MS + lead_in_ms;
    this.#report({ event: "phase", phase: "measure", opens_in_ms: START_DELAY_MS + lead_in_ms });

    // The first reading takes CPU time, and is the start of the window: it comes in the lead-in.
    const monitoring = sleep(Math.max(0, lead_in_ms - MONITOR_LEAD_MS)).then(() =>
      this.#monitor?.start(),
    );
    const closeWindow = async (): Promise<void> => {
      cpu = process.cpuUsage(cpuBefore);
      links = bytesBetween(linksBefore, await readNetworkLinks());
      await monitoring;
      await this.#monitor?.stop();
    };
    const workers = await this.#pool.measure(
      { extent, opens_ms: this.#opens_ms, lead_in_ms, shared_wakes },
      closeWindow,
    );

    return {
      workers,
      lead_in_s: lead_in_ms / 1000,
      generatorCpuUs: cpu.user + cpu.system,
      links,
    };
  }

  async tearDown(): Promise<void> {
    this.phases.close();
    await this.#pool.close();
  }
}

/**
 * Makes the load of one run: set-up, warm-up, window, tear-down. Where the spec says so, it waits
 * at each drained moment for a line that the counters are read; several generators also wait for
 * each other. The first generator reads the servers.
 * @throws BenchError
 */
export async function runGenerator(
  spec: GeneratorRunSpec,
  plugins: readonly PluginIdentity[],
  report: (progress: Progress) => void,
  input: Readable,
): Promise<GeneratorOutput> {
  const started_at = new Date();
  const clocks = new ClockComparison();
  const { generator } = spec;
  const { layer, servers, share } = generator;
  requireLimits(spec);
  requireWorkload(spec);
  const driver = await loadDriver(layer);
  const identified = await identifyServers(servers);
  const readsServers = (share?.index ?? 0) === 0;
  const isDiagnosed = generator.diagnose && readsServers;
  const run = new GeneratorRun(spec, readsServers ? identified : undefined, report, input);
  const { phases } = run;

  try {
    const consumers = await run.connect(plugins);
    const at_start = (await consumers?.read()) ?? [];
    await phases.allGenerators();

    const drainMs = generator.timeout_s * 1000;
    const { warmup, began_ms, shared_wakes } = await run.warmUp(async () => {
      await phases.allGenerators();
      return consumers && readDrained(consumers, drainMs);
    });
    await phases.allGenerators();
    const at_window_open = consumers ? await readDrained(consumers, drainMs) : [];
    // What the instruments saw so far is the warm-up's.
    if (isDiagnosed) await readDiagnoses(servers);
    await phases.drained("drained");

    const window = await run.measure(shared_wakes);
    await phases.allGenerators();
    const at_end = consumers ? await readDrained(consumers, drainMs) : [];
    const diagnosis = isDiagnosed
      ? { servers: await readDiagnoses(servers), nodes: [] }
      : undefined;
    await phases.drained("finished");

    const measurements = definedOnly({
      spec,
      started_at,
      opens_ms: run.opens_ms,
      opens_s: began_ms === undefined ? 0 : (run.opens_ms - began_ms) / 1000,
      measured: window.workers,
      warmup: withLeadIn(warmup, window.lead_in_s, window.workers),
      generatorCpuUs: window.generatorCpuUs,
      longest_gap_ms: Math.max(...window.workers.map((worker) => worker.longest_gap_ms)),
      clocks,
      links: window.links,
      samples: run.samples(),
      monitor: run.monitor,
      driverVersions: driver.versions(),
      consumers: consumers && { ...consumers, at_start, at_window_open, at_end },
      diagnosis,
      answers: run.answers,
    });
    return {
      ...buildResult(measurements),
      ...definedOnly({
        request_counts: phases.areReadOutside ? requestCounts(window.workers) : undefined,
        share: share ? shareOutput(measurements, run.latencies()) : undefined,
      }),
    };
  } finally {
    await run.tearDown();
  }
}

/** @throws usageError for a traffic whose quota binds, where nobody says what the quota is */
export function requireLimits({ generator: { traffic, load }, limits }: GeneratorRunSpec): void {
  if (!findProfile(traffic).binding || (limits && load.model === "open")) return;
  throw usageError(
    `the traffic ${traffic} needs the limits of a campaign: use ratelimit-bench run --traffic ${traffic} --rate 5000`,
  );
}

/** @throws usageError for servers of ours without an endpoint of that name */
export function requireWorkload({ generator: { servers, workload, request } }: GeneratorRunSpec) {
  if (servers.length > 0 && !request) findWorkload(workload.id);
}

/** How often each distinct request was sent, or was not decided, over all workers. */
export function requestCounts(
  measured: readonly Pick<Measured, "sent_by_request" | "undecided_by_request">[],
): RequestCounts {
  const added = (counts: readonly Uint32Array[]): number[] =>
    Array.from(counts[0] ?? [], (_, which) => sum(counts.map((worker) => worker[which] ?? 0)));
  return {
    sent: added(measured.map((worker) => worker.sent_by_request)),
    undecided: added(measured.map((worker) => worker.undecided_by_request)),
  };
}

/**
 * The warm-up of a run, which is what came before the reading of the counters, and its
 * lead-in.
 */
export function withLeadIn(
  { took_s, requests, ...rest }: Omit<Warmup, "lead_in">,
  lead_in_s: number,
  measured: readonly Pick<Window, "lead_in_requests">[],
): Warmup {
  const lead_in = {
    took_s: lead_in_s,
    requests: sum(measured.map((window) => window.lead_in_requests)),
  };
  return {
    took_s: rounded(took_s + lead_in.took_s, 3),
    requests: requests + lead_in.requests,
    lead_in,
    ...rest,
  };
}

/** The live figures of one second. */
export function secondEvent(sample: Sample, server: ServerSample | undefined): SecondEvent {
  const answered = sample.allowed + sample.limited;
  return {
    event: "second",
    t_s: sample.t_s,
    requests_per_second: Math.round(answered / sample.interval_s),
    ...definedOnly({
      limited_share: answered > 0 ? sample.limited / answered : undefined,
      p99_ms: sample.p99_ms,
      generator_event_loop_utilisation: sample.generator_event_loop_utilisation,
      server_event_loop_utilisation: server && rounded(server.event_loop_utilisation, 4),
      server_cpu_percent: server && rounded(server.cpu_percent, 1),
    }),
  };
}
