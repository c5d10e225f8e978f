import { randomBytes } from "node:crypto";
import type { Node } from "../../contract/env.js";
import { BenchError, EXIT, environmentError, messageOf } from "../../contract/errors.js";
import { rounded, sum } from "../../contract/numbers.js";
import type { ProbeAction, ProbeRequest } from "../../contract/probe-env.js";
import type { HostLoad, PrintedResult, RoleResources } from "../../contract/result.js";
import { type RoleKind, roleId } from "../../contract/role.js";
import type { ProbeReport, StoreEvidence, StoreFeature } from "../../contract/store.js";
import type { Part, RunningPart, Runtime } from "../../runtimes/types.js";
import {
  benchmarkArguments,
  type PrintedFigures,
  parseBenchmarkCsv,
} from "../../targets/benchmarks/index.js";
import { findOperation, KEYSPACE } from "../../targets/benchmarks/operations.js";
import { findStore } from "../../targets/resolve.js";
import type { Lease } from "../ownership/lease.js";
import { CounterWatch } from "./counters.js";
import { GENERATOR, layoutOf, PROBE, type RunSettings } from "./layout.js";
import { PartFailed, PartSupervisor, type RunningRole } from "./part-supervisor.js";
import type { RunListener } from "./run.js";
import { askProbe } from "./store.js";

/** The first part of a calibration: enough operations to time, few enough for a slow server. */
const FIRST_REQUESTS = 1_000;
/** The shortest second part: a rate that is measured in less is too inexact for the number of operations. */
const LEAST_CALIBRATION_S = 0.3;
/** `auto` looks for a trend in our own generator's slices, which no other program has. */
const AUTO_WARMUP_S = 3;
/** A benchmark program that takes longer than expected by this factor, and this time, hangs. */
const LATEST = { factor: 5, more_s: 60 } as const;
const PROBE_TIMEOUT_S = 60;
/** A program ends within a second or two: its counters are read often enough to know its rate. */
const GENERATOR_PERIOD_MS = 200;

/** What a run of a benchmark program gave, before it is judged. */
export type RawPrintedRun = Pick<
  PrintedResult,
  | "warmup_s"
  | "duration"
  | "program_s"
  | "operations"
  | "latency"
  | "calls"
  | "memory"
  | "store"
  | "resources"
  | "host_load"
  | "notes"
  | "started_at"
  | "finished_at"
> & { program: Pick<PrintedResult["program"], "id" | "arguments" | "output"> };

type Settings = Omit<RunSettings, "runNonce">;

/** Starts the parts of one run, and stops all of them whatever happens. */
async function withParts<Value>(
  request: Settings,
  runtime: Runtime,
  lease: Lease,
  log: (role: string, line: string) => void,
  use: (parts: StoreParts) => Promise<Value>,
): Promise<Value> {
  const settings = { ...request, runNonce: randomBytes(12).toString("hex") };
  const started: RunningPart[] = [];
  const start = async (part: Part): Promise<RunningPart> => {
    const running = await lease.start(runtime, part);
    started.push(running);
    running.onLine((line) => log(part.role, line));
    return running;
  };
  try {
    return await use(new StoreParts(settings, new PartSupervisor(layoutOf(settings), start), start));
  } finally {
    await lease.release(started);
  }
}

/** The store, the probe and the benchmark program of one run. */
class StoreParts {
  readonly settings: RunSettings;
  readonly #supervisor: PartSupervisor;
  readonly #start: (part: Part) => Promise<RunningPart>;
  store: readonly RunningRole[] = [];
  #probe: RunningPart | undefined;

  constructor(
    settings: RunSettings,
    supervisor: PartSupervisor,
    start: (part: Part) => Promise<RunningPart>,
  ) {
    this.settings = settings;
    this.#supervisor = supervisor;
    this.#start = start;
  }

  get place(): Node {
    const address = this.store[0]?.part.address;
    if (!address) throw new Error("the store was not started");
    return address;
  }

  /** @throws environmentError when the store does not become ready */
  async open(): Promise<void> {
    const started = await this.#supervisor.start("store", "helper");
    const ofKind = (wanted: RoleKind) => started.filter(({ kind }) => kind === wanted);
    this.store = ofKind("store");
    this.#probe = started.find(({ id }) => id === PROBE)?.part;
    try {
      await this.ask(["ready"]);
    } catch (error) {
      if (error instanceof PartFailed && error.role !== "store") throw error;
      throw environmentError(`store: ${messageOf(error)}`);
    }
  }

  /** @throws PartFailed naming the store when it does not answer as it must */
  async ask(actions: ProbeAction[], more: Partial<ProbeRequest> = {}): Promise<ProbeReport> {
    if (!this.#probe) throw new Error("the layout has no probe");
    try {
      return await this.#supervisor.waitFor(
        askProbe(this.#probe, {
          actions,
          nodes: this.store.map(({ part: { address } }) => ({ host: address.host, port: address.port })),
          timeout_s: PROBE_TIMEOUT_S,
          ...more,
        }),
      );
    } catch (error) {
      if (error instanceof Error && error.name === "ProbeEnded") throw new PartFailed("store", error.message);
      throw error;
    }
  }

  /** Starts the benchmark program and waits until it has ended. */
  async runProgram(
    words: readonly string[],
    expected_s: number,
    onStarted: (part: RunningPart) => void = () => {},
  ): Promise<{ output: string; program_s: number }> {
    const { target } = this.settings.configuration;
    const caps = this.settings.caps.generator;
    const began = performance.now();
    const part = await this.#start({
      role: GENERATOR,
      program: target.client,
      ...(caps ? { caps } : {}),
      workingFolder: "own",
      endsByItself: true,
      arguments: () => words,
      environment: () => ({}),
    });
    onStarted(part);
    const exit = await this.#supervisor.waitFor(endInTime(part, expected_s));
    const program_s = (performance.now() - began) / 1000;
    const last = part.lastLines().at(-1);
    if (exit.code !== 0)
      throw new PartFailed(
        GENERATOR,
        `${target.client} ended with ${exit.code ?? exit.signal}${last ? `: ${last}` : ""}`,
      );
    return { output: await part.output(), program_s };
  }
}

/** @throws PartFailed when the program hangs, as it does when the server refuses its connections */
async function endInTime(part: RunningPart, expected_s: number): Promise<Awaited<RunningPart["exited"]>> {
  const most_s = LATEST.factor * expected_s + LATEST.more_s;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const last = part.lastLines().at(-1);
      reject(
        new PartFailed(GENERATOR, `it did not end within ${Math.round(most_s)} s${last ? `: ${last}` : ""}`),
      );
    }, most_s * 1000);
  });
  try {
    return await Promise.race([part.exited, late]);
  } finally {
    clearTimeout(timer);
  }
}

function figuresIn(output: string): PrintedFigures {
  try {
    return parseBenchmarkCsv(output);
  } catch (error) {
    throw new PartFailed(GENERATOR, messageOf(error));
  }
}

/**
 * The CPU of a program that ends by itself: its counters can only be read while it runs, so that its rate between the
 * first and the last reading stands for the whole.
 */
class EndingPart {
  readonly #readings: { at_ms: number; cpu_us: number; resident_bytes: number }[] = [];
  #timer: NodeJS.Timeout | undefined;

  watch(part: RunningPart): void {
    const read = async () => {
      const found = await part.counters().catch(() => undefined);
      if (found) this.#readings.push({ at_ms: performance.now(), ...found });
    };
    void read();
    this.#timer = setInterval(read, GENERATOR_PERIOD_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  resources(source: string, loaded_s: number, operations: number): RoleResources | undefined {
    const [first, last] = [this.#readings[0], this.#readings.at(-1)];
    if (!first || !last || last.at_ms <= first.at_ms) return undefined;
    const share = Math.max(0, last.cpu_us - first.cpu_us) / 1000 / (last.at_ms - first.at_ms);
    const resident = this.#readings.map(({ resident_bytes }) => resident_bytes);
    const cpu_us = Math.round(share * loaded_s * 1e6);
    return {
      kind: "generator",
      source: `${source}, while it ran`,
      cpu_us,
      cpu_percent: rounded(100 * share, 2),
      cpu_us_per_request: rounded(cpu_us / operations, 2),
      resident_bytes_mean: Math.round(sum(resident) / resident.length),
      resident_bytes_max: Math.max(...resident),
      samples: [],
    };
  }
}

/**
 * Asks each store once what it lacks, before anything is planned.
 * @returns why it cannot be measured where it does not start or does not answer
 */
export async function findingsOf(
  settings: readonly Settings[],
  runtime: Runtime,
  lease: Lease,
  log: (role: string, line: string) => void,
): Promise<Map<string, readonly StoreFeature[] | string>> {
  const found = new Map<string, readonly StoreFeature[] | string>();
  for (const each of settings) {
    const { store } = each.configuration.target;
    try {
      const { lacks = [] } = await withParts(each, runtime, lease, log, async (parts) => {
        await parts.open();
        return parts.ask(["features"]);
      });
      found.set(store, lacks);
    } catch (error) {
      if (!(error instanceof BenchError || error instanceof PartFailed)) throw error;
      found.set(store, `it did not become ready: ${messageOf(error)}`);
    }
  }
  return found;
}

/**
 * Makes one run of the store layer with a fresh store. The number of operations comes from a calibration, which is also the
 * warm-up: neither program can run for a time.
 */
export function executeProgramRun(
  request: Settings,
  runtime: Runtime,
  lease: Lease,
  listener: RunListener,
): Promise<RawPrintedRun> {
  listener.phase("starting");
  return withParts(request, runtime, lease, listener.log, (parts) =>
    measure(parts, runtime, listener),
  ).finally(() => listener.phase("stopped"));
}

async function measure(parts: StoreParts, runtime: Runtime, listener: RunListener): Promise<RawPrintedRun> {
  const { configuration, warmupS } = parts.settings;
  const { workload, load, extent, target } = configuration;
  if (!("duration_s" in extent)) throw new Error("a run of the store layer has a duration");
  const operation = findOperation(workload.id);
  const started_at = new Date().toISOString();
  await parts.open();
  listener.phase("store ready");
  const decision_commands = [...operation.commands];
  const empty = await parts.ask(["read", "settings"], { decision_commands });
  const { prepared } = await parts.ask(["prepare"], { operation: workload });
  const keys = workload.keys ?? KEYSPACE;
  const words = (requests: number) =>
    benchmarkArguments(parts.place, {
      test: operation.test(prepared?.script ?? []),
      connections: load.connections,
      requests: Math.max(requests, load.connections),
      keys,
      payloadBytes: workload.payload_bytes,
    });

  listener.phase("warmup");
  const first = await parts.runProgram(words(FIRST_REQUESTS), 1);
  const warmup_s = Math.max(LEAST_CALIBRATION_S, warmupS === "auto" ? AUTO_WARMUP_S : warmupS);
  const roughly = figuresIn(first.output).per_second;
  const second = await parts.runProgram(words(Math.ceil(roughly * warmup_s)), warmup_s);
  const rate = figuresIn(second.output).per_second;

  const requests = Math.max(load.connections, Math.ceil(rate * extent.duration_s));
  const before = await parts.ask(["read"], { decision_commands });
  const watch = new CounterWatch(parts.store);
  const generator = new EndingPart();
  await watch.start();
  listener.phase("measure");
  const chosen = words(requests);
  let run: Awaited<ReturnType<StoreParts["runProgram"]>>;
  try {
    run = await parts.runProgram(chosen, extent.duration_s, (part) => generator.watch(part));
  } finally {
    generator.stop();
    await watch.stop();
  }
  listener.phase("finished");
  const figures = figuresIn(run.output);
  const after = await parts.ask(["read"], { decision_commands });
  listener.phase("read");

  const duration = rounded(requests / figures.per_second, 6);
  const own = generator.resources(runtime.counterSource, duration, requests);
  const resources = {
    ...(await watch.resources(runtime.counterSource, duration, requests)),
    ...(own ? { [GENERATOR]: own } : {}),
  };
  const host_load: HostLoad | undefined = own
    ? await watch.hostLoad(run.program_s, {}, own.cpu_us)
    : undefined;
  const [at_start, at_end] = [before.readings?.[0], after.readings?.[0]];
  if (!at_start || !at_end) throw new BenchError("the probe gave no reading of the store", EXIT.defect);
  const store: StoreEvidence = {
    nodes: [{ role: roleId("store", 1), at_start, at_end }],
    settings: empty.settings ?? {},
    ...commandThreadsOf(target.store),
    external: false,
  };
  const memory = memoryOf(empty, after);
  return {
    started_at,
    finished_at: new Date().toISOString(),
    warmup_s: rounded(first.program_s + second.program_s, 3),
    duration,
    program_s: rounded(run.program_s, 6),
    operations: { total: requests, per_second: figures.per_second },
    latency: figures.latency,
    program: { id: target.client, arguments: chosen, output: run.output.slice(0, 10_000) },
    ...(at_start.decisions !== undefined && at_end.decisions !== undefined
      ? { calls: { before: at_start.decisions, after: at_end.decisions } }
      : {}),
    ...(memory ? { memory } : {}),
    store,
    resources,
    ...(host_load ? { host_load } : {}),
    notes: [...watch.failures],
  };
}

function commandThreadsOf(id: string): Pick<StoreEvidence, "command_threads"> {
  const { commandThreads = 1 } = findStore(id);
  return commandThreads > 1 ? { command_threads: commandThreads } : {};
}

/** What the keys cost: used memory after the load less that of the empty store. */
function memoryOf(empty: ProbeReport, after: ProbeReport): PrintedResult["memory"] {
  const [before, end] = [empty.readings?.[0], after.readings?.[0]];
  if (!end?.keys || before?.used_memory_bytes === undefined || end.used_memory_bytes === undefined)
    return undefined;
  const used_bytes = end.used_memory_bytes - before.used_memory_bytes;
  return { keys: end.keys, used_bytes, bytes_per_key: rounded(used_bytes / end.keys, 2) };
}
