import { randomBytes } from "node:crypto";
import type { ProbeAction, ProbeRequest } from "../../contract/probe-env.js";
import type { PrintedResult, RoleResources } from "../../contract/result.js";
import { roleId } from "../../contract/role.js";
import { DEFAULT_KEY_PREFIX } from "../../contract/server-env.js";
import type { ProbeReport, StoreEvidence, StoreFeature } from "../../contract/store.js";
import { within } from "../../kit/deadline.js";
import type { Node } from "../../kit/env.js";
import { BenchError, EXIT, messageOf } from "../../kit/errors.js";
import { rounded, sum } from "../../kit/numbers.js";
import { ClockComparison } from "../../kit/system-clock.js";
import type { RunningPart, Runtime } from "../../runtimes/runtime-types.js";
import { parseRespLoadCsv, respLoadArguments } from "../../targets/load-programs/index.js";
import type { LoadProgram, PrintedLoad } from "../../targets/load-programs/load-program.js";
import { findLoadProgram } from "../../targets/load-programs/load-programs.js";
import { findOperation, KEYSPACE } from "../../targets/load-programs/operations.js";
import { describeClient } from "../../targets/resolve.js";
import type { Lease } from "../ownership/lease.js";
import { callsOf } from "../plan/load-program-targets.js";
import { CounterWatch } from "./counter-watch.js";
import type { RunListener } from "./execute-run.js";
import { GENERATOR, layoutOf, type RunSettings } from "./layout.js";
import {
  PartFailed,
  type PartPlace,
  placementOf,
  type RunningRole,
  type RunParts,
  withParts,
} from "./part-supervisor.js";
import { commandThreadsOf, type RunStore, type StoreSide, storeOf } from "./run-store.js";

/** The first part of a calibration: enough operations to time, few enough for a slow server. */
const FIRST_REQUESTS = 1_000;
/**
 * The shortest second part: a rate that is measured in less is too inexact for the number of
 * operations.
 */
const LEAST_CALIBRATION_S = 0.3;
/** `auto` looks for a trend in our own generator's slices, which no other program has. */
const AUTO_WARMUP_S = 3;
/** A foreign program that takes longer than expected by this factor, and this time, hangs. */
const LATEST = { factor: 5, more_s: 60 } as const;
/** A program ends within a second or two: its counters are read often enough to know its rate. */
const GENERATOR_PERIOD_MS = 200;

type ProgramRunSettings = Omit<RunSettings, "runNonce">;

interface ProgramStart {
  program: string;
  arguments(folder: string): readonly string[];
  /** Texts of the files that it reads, by name. */
  files?: Readonly<Record<string, string>>;
  expected_s: number;
}

type ProgramEnd = { arguments: readonly string[]; output: string; program_s: number };

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
  | "service"
  | "resources"
  | "host_load"
  | "own_throttling"
  | "clock_change"
  | "placement"
  | "links"
  | "notes"
  | "started_at"
  | "finished_at"
> & { program: Pick<PrintedResult["program"], "id" | "arguments" | "output"> };

const programFacts = (
  id: string,
  { arguments: words, output }: ProgramEnd,
): RawPrintedRun["program"] => ({
  id,
  arguments: [...words],
  output: output.slice(0, 10_000),
});

interface ProgramParts extends RunParts {
  settings: RunSettings;
}

/**
 * Starts a foreign program and waits until it has ended. @throws PartFailed when it fails or hangs
 */
export async function runProgram(
  { settings, supervisor, startPart }: ProgramParts,
  { program, arguments: argumentsIn, files = {}, expected_s }: ProgramStart,
  onStarted: (part: RunningPart) => void = () => {},
): Promise<ProgramEnd> {
  const caps = settings.caps.generator;
  const began = performance.now();
  let words: readonly string[] = [];
  const part = await startPart({
    role: GENERATOR,
    kind: "generator",
    program,
    ...(caps ? { caps } : {}),
    workingFolder: "own",
    endsByItself: true,
    files: Object.fromEntries(Object.entries(files).map(([name, text]) => [name, { text }])),
    arguments: (allocation) => {
      words = argumentsIn(allocation.files);
      return words;
    },
    environment: () => ({}),
  });
  onStarted(part);
  const { code, signal } = await supervisor.waitFor(endInTime(part, expected_s));
  const program_s = (performance.now() - began) / 1000;
  const last = part.lastLines().at(-1);
  if (code !== 0)
    throw new PartFailed(
      GENERATOR,
      `${program} ended with ${code ?? signal}${last ? `: ${last}` : ""}`,
    );
  return { arguments: words, output: await part.output(), program_s };
}

/** Starts the parts of one run, and stops all of them whatever happens. */
function withProgramParts<Value>(
  request: ProgramRunSettings,
  place: PartPlace,
  use: (parts: ProgramParts) => Promise<Value>,
): Promise<Value> {
  const settings = { ...request, runNonce: randomBytes(12).toString("hex") };
  return withParts(layoutOf(settings), place, (parts) => use({ ...parts, settings }));
}

/** @throws PartFailed when the program hangs, as it does when the server refuses its connections */
function endInTime(part: RunningPart, expected_s: number): RunningPart["exited"] {
  const most_s = LATEST.factor * expected_s + LATEST.more_s;
  return within(part.exited, most_s * 1000, () => {
    const last = part.lastLines().at(-1);
    const text = `it did not end within ${Math.round(most_s)} s${last ? `: ${last}` : ""}`;
    return new PartFailed(GENERATOR, text);
  });
}

/** Seconds of warm-up. A foreign program has no slices in which `auto` could look for a trend. */
const warmupSeconds = ({ warmupS }: Pick<RunSettings, "warmupS">): number =>
  Math.max(LEAST_CALIBRATION_S, warmupS === "auto" ? AUTO_WARMUP_S : warmupS);

/** The rate of a program that cannot run for a time, from two runs: they are also the warm-up. */
export async function calibrate(
  settings: Pick<RunSettings, "warmupS">,
  run: (requests: number, expected_s: number) => Promise<ProgramEnd>,
  perSecondIn: (output: string) => number,
): Promise<{ rate: number; warmup_s: number }> {
  const seconds = warmupSeconds(settings);
  const first = await run(FIRST_REQUESTS, 1);
  const second = await run(Math.ceil(perSecondIn(first.output) * seconds), seconds);
  return {
    rate: perSecondIn(second.output),
    warmup_s: rounded(first.program_s + second.program_s, 3),
  };
}

/** A program that ends by itself: its rate between first and last reading stands for the whole. */
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

/** What the roles used while a foreign program ran, and what could not be read. */
type ProgramUse = Pick<RawPrintedRun, "resources" | "host_load" | "own_throttling" | "notes">;

async function runWatched(
  roles: readonly RunningRole[],
  source: string,
  run: (onStarted: (part: RunningPart) => void) => Promise<ProgramEnd>,
): Promise<{ ended: ProgramEnd; useOf(loaded_s: number, requests: number): Promise<ProgramUse> }> {
  const watch = new CounterWatch(roles);
  const generator = new EndingPart();
  await watch.start();
  let ended: ProgramEnd;
  try {
    ended = await run((part) => generator.watch(part));
  } finally {
    generator.stop();
    await watch.stop();
  }
  const { program_s } = ended;
  return {
    ended,
    async useOf(loaded_s, requests) {
      const own = generator.resources(source, loaded_s, requests);
      const others = await watch.resources(source, loaded_s, requests);
      const resources = own ? { ...others, [GENERATOR]: own } : others;
      const host_load = own ? await watch.hostLoad(program_s, {}, own.cpu_us) : undefined;
      const own_throttling = await watch.ownThrottling();
      return {
        resources,
        ...(host_load ? { host_load } : {}),
        ...(own_throttling ? { own_throttling } : {}),
        notes: [...watch.failures],
      };
    },
  };
}

const PROBE_TIMEOUT_S = 60;

const ask = async (store: RunStore, actions: ProbeAction[], more: Partial<ProbeRequest> = {}) =>
  (await store.perform(actions, { timeout_s: PROBE_TIMEOUT_S, ...more })) ?? {};

/** What a program printed. @throws PartFailed where that cannot be read */
function figuresOf<Figures>(read: (output: string) => Figures, output: string): Figures {
  try {
    return read(output);
  } catch (error) {
    throw new PartFailed(GENERATOR, messageOf(error));
  }
}

/** Asks each store once what it lacks, or why it cannot be measured. */
export async function findingsOf(
  settings: readonly ProgramRunSettings[],
  runtime: Runtime,
  lease: Lease,
  log: (role: string, line: string) => void,
): Promise<Map<string, readonly StoreFeature[] | string>> {
  const found = new Map<string, readonly StoreFeature[] | string>();
  for (const each of settings) {
    const { store } = each.configuration.target;
    try {
      const place = { runtime, lease, log };
      const { lacks = [] } = await withProgramParts(
        each,
        place,
        async ({ settings, supervisor }) => {
          const store = storeOf(settings, supervisor);
          await store.open();
          return ask(store, ["features"]);
        },
      );
      found.set(store, lacks);
    } catch (error) {
      if (!(error instanceof BenchError || error instanceof PartFailed)) throw error;
      found.set(store, `it did not become ready: ${messageOf(error)}`);
    }
  }
  return found;
}

/** Makes one run with a fresh store whose load comes from a foreign program. */
export function executeProgramRun(
  request: ProgramRunSettings,
  runtime: Runtime,
  lease: Lease,
  listener: RunListener,
): Promise<RawPrintedRun> {
  const { target } = request.configuration;
  const measure = target.program === undefined ? measureStoreLayer : measureLoadProgram;
  const clocks = new ClockComparison();
  listener.phase("starting");
  return withProgramParts(request, { runtime, lease, log: listener.log }, async (parts) => ({
    ...(await measure(parts, runtime, listener)),
    clock_change: clocks.change(),
  })).finally(() => listener.phase("stopped"));
}

/**
 * The number of operations comes from a calibration, which is the warm-up: no program runs for a
 * time.
 */
async function measureStoreLayer(
  parts: ProgramParts,
  runtime: Runtime,
  listener: RunListener,
): Promise<RawPrintedRun> {
  const { settings, supervisor } = parts;
  const { workload, load, extent, target } = settings.configuration;
  if (!("duration_s" in extent)) throw new Error("a run of the store layer has a duration");
  const operation = findOperation(workload.id);
  const started_at = new Date().toISOString();
  const opened = storeOf(settings, supervisor);
  await opened.open();
  const place = opened.nodes[0]?.part.address;
  if (!place) throw new Error("the store was not started");
  listener.phase("store ready");
  const decision_commands = [...operation.commands];
  const empty = await ask(opened, ["read", "settings"], { decision_commands });
  const { prepared } = await ask(opened, ["prepare"], { operation: workload });
  const keys = workload.keys ?? KEYSPACE;
  const run = (requests: number, expected_s: number, onStarted?: (part: RunningPart) => void) =>
    runProgram(
      parts,
      {
        program: target.client,
        expected_s,
        arguments: () =>
          respLoadArguments(place, {
            test: operation.test(prepared?.script ?? []),
            connections: load.connections,
            requests: Math.max(requests, load.connections),
            keys,
            payloadBytes: workload.payload_bytes,
          }),
      },
      onStarted,
    );

  listener.phase("warmup");
  const perSecondIn = (output: string) => figuresOf(parseRespLoadCsv, output).per_second;
  const { rate, warmup_s } = await calibrate(settings, run, perSecondIn);

  const requests = Math.max(load.connections, Math.ceil(rate * extent.duration_s));
  const before = await ask(opened, ["read"], { decision_commands });
  listener.phase("measure");
  const { ended, useOf } = await runWatched(opened.nodes, runtime.counterSource, (onStarted) =>
    run(requests, extent.duration_s, onStarted),
  );
  listener.phase("finished");
  const figures = figuresOf(parseRespLoadCsv, ended.output);
  const after = await ask(opened, ["read"], { decision_commands });
  listener.phase("read");

  const duration = rounded(requests / figures.per_second, 6);
  const [at_start, at_end] = [before.readings?.[0], after.readings?.[0]];
  if (!at_start || !at_end)
    throw new BenchError("the probe gave no reading of the store", EXIT.defect);
  const store: StoreEvidence = {
    nodes: [{ role: roleId("store", 1), at_start, at_end }],
    settings: empty.settings ?? {},
    ...commandThreadsOf(target),
    external: false,
  };
  const memory = memoryOf(empty, after);
  return {
    started_at,
    finished_at: new Date().toISOString(),
    warmup_s,
    duration,
    program_s: rounded(ended.program_s, 6),
    operations: { total: requests, per_second: figures.per_second },
    latency: figures.latency,
    ...placementOf(parts.started),
    program: programFacts(target.client, ended),
    ...(at_start.decisions !== undefined && at_end.decisions !== undefined
      ? { calls: { before: at_start.decisions, after: at_end.decisions } }
      : {}),
    ...(memory ? { memory } : {}),
    store,
    ...(await useOf(duration, requests)),
  };
}

function memoryOf(empty: ProbeReport, after: ProbeReport): PrintedResult["memory"] {
  const [before, end] = [empty.readings?.[0], after.readings?.[0]];
  if (!end?.keys || before?.used_memory_bytes === undefined || end.used_memory_bytes === undefined)
    return undefined;
  const used_bytes = end.used_memory_bytes - before.used_memory_bytes;
  return { keys: end.keys, used_bytes, bytes_per_key: rounded(used_bytes / end.keys, 2) };
}

function workOf(
  program: LoadProgram,
  { configuration, seed, runNonce }: RunSettings,
  store: RunStore,
) {
  const { target, load } = configuration;
  const { connections } = load;
  const { native } = describeClient(target);
  const place: Node | undefined = store.nodes.find(
    ({ kind }) => kind === (target.service ? "service" : "store"),
  )?.part.address;
  if (!native || !place) throw new Error(`${target.label} cannot be called by ${program.id}`);
  const run = { nonce: runNonce, keyPrefix: DEFAULT_KEY_PREFIX };
  return { protocol: native, place, ...callsOf(program, configuration, seed, run), connections };
}

async function measureLoadProgram(
  parts: ProgramParts,
  runtime: Runtime,
  listener: RunListener,
): Promise<RawPrintedRun> {
  const { settings, supervisor } = parts;
  const { target, load, extent, limits } = settings.configuration;
  if (!("duration_s" in extent)) throw new Error("a load program runs for a time");
  const program = findLoadProgram(target.program ?? "");
  const started_at = new Date().toISOString();
  const store = storeOf(settings, supervisor);
  await store.open();
  listener.phase("store ready");
  const work = workOf(program, settings, store);
  const files = program.files(work);
  const run = (amount: number, expected_s: number, onStarted?: (part: RunningPart) => void) =>
    runProgram(
      parts,
      {
        program: program.id,
        expected_s,
        files,
        arguments: (folder) => program.arguments(work, amount, folder),
      },
      onStarted,
    );

  listener.phase("warmup");
  const { amount, warmup_s } = await warmUp(program, settings, extent.duration_s, run);

  // Keys of the warm-up are not those of the run.
  await store.readBefore();
  listener.phase("measure");
  const { ended, useOf } = await runWatched(store.nodes, runtime.counterSource, (onStarted) =>
    run(amount, extent.duration_s, onStarted),
  );
  listener.phase("finished");
  const figures = figuresOf(program.figuresIn, ended.output);
  const after = await store.readAfter();
  listener.phase("read");
  requireDecisions(figures, after);

  const total = figures.calls ?? amount;
  const duration = rounded(total / figures.per_second, 6);
  if (!after.store) throw new Error("a target of a load program has a store");
  const calls = decisionsOf(after, limits.cost ?? 1);
  return {
    started_at,
    finished_at: new Date().toISOString(),
    warmup_s,
    duration,
    program_s: rounded(ended.program_s, 6),
    operations: {
      total,
      per_second: figures.per_second,
      // What was under way when the program ended had reached the service.
      more_at_most: program.opensWith + (program.runsFor === "time" ? load.connections : 0),
    },
    latency: figures.latency,
    ...placementOf(parts.started),
    program: programFacts(program.id, ended),
    ...(calls ? { calls } : {}),
    store: after.store,
    ...(after.service ? { service: after.service } : {}),
    ...(await useOf(duration, total)),
  };
}

async function warmUp(
  program: LoadProgram,
  settings: RunSettings,
  duration_s: number,
  run: (amount: number, expected_s: number) => Promise<ProgramEnd>,
): Promise<{ amount: number; warmup_s: number }> {
  if (program.runsFor === "time") {
    const seconds = warmupSeconds(settings);
    const { program_s } = await run(seconds, seconds);
    return { amount: duration_s, warmup_s: rounded(program_s, 3) };
  }
  const perSecondIn = (output: string) => figuresOf(program.figuresIn, output).per_second;
  const { rate, warmup_s } = await calibrate(settings, run, perSecondIn);
  const { connections } = settings.configuration.load;
  return { amount: Math.max(connections, Math.ceil(rate * duration_s)), warmup_s };
}

/**
 * @throws PartFailed where calls had no decision: the program's throughput counts them, too (M9)
 */
function requireDecisions({ refused, failures }: PrintedLoad, { service }: StoreSide): void {
  if (failures) throw new PartFailed(GENERATOR, `calls failed: ${failures}`);
  // A service that denies with an error status has counted at least as many denials.
  const limited = (service?.at_end.limited ?? 0) - (service?.at_start.limited ?? 0);
  if (refused > limited)
    throw new PartFailed(
      GENERATOR,
      `${refused} answers had an error status, of which ${limited} can be denials`,
    );
}

function decisionsOf({ store, service }: StoreSide, cost: number): RawPrintedRun["calls"] {
  if (service) {
    const { at_start, at_end } = service;
    return {
      before: Math.round(at_start.decisions / cost),
      after: Math.round(at_end.decisions / cost),
    };
  }
  const at = (moment: "at_start" | "at_end") =>
    (store?.nodes ?? []).flatMap((node) => node[moment].decisions ?? []);
  const [before, after] = [at("at_start"), at("at_end")];
  return after.length > 0 ? { before: sum(before), after: sum(after) } : undefined;
}
