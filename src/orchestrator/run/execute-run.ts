import { randomBytes } from "node:crypto";
import type { Admissions, RequestCounts } from "../../contract/admissions.js";
import { longestWarmupS } from "../../contract/configuration.js";
import type { Phase } from "../../contract/events.js";
import { propertiesOfAction } from "../../contract/fault-actions.js";
import type { Fault, FaultRecord } from "../../contract/fault-schemas.js";
import type { GeneratorOutput } from "../../contract/generator-output.js";
import type { MeasuredResult } from "../../contract/result.js";
import type { HostLoad } from "../../contract/role-resources.js";
import type { StoreEvidence, StoreReading } from "../../contract/store.js";
import { loadedS, servedRequests } from "../../judge/counts.js";
import { definedOnly } from "../../kit/defined-only.js";
import { sum } from "../../kit/numbers.js";
import { ClockComparison, largestChange } from "../../kit/system-clock.js";
import type { Runtime } from "../../runtimes/runtime-types.js";
import { findStore } from "../../targets/resolve.js";
import type { Lease } from "../ownership/lease.js";
import { requireServed } from "./app-answers.js";
import { CounterWatch, type SeveralMachines } from "./counter-watch.js";
import { DrainedReadings } from "./drained-readings.js";
import { FaultInjection } from "./injected-faults.js";
import { layoutOf } from "./layout.js";
import {
  PartFailed,
  type PartSupervisor,
  placementOf,
  type RunningRole,
  withParts,
} from "./part-supervisor.js";
import { readAdmissions } from "./read-admissions.js";
import { Generators, type Second } from "./run-generators.js";
import type { RequestedRun, RunSettings } from "./run-settings.js";
import { keyPrefixOf } from "./run-specs.js";
import { type RunStore, type StoreSide, storeOf } from "./store/run-store.js";
import { withoutSharedCounts } from "./store/shared-store.js";

export interface RunListener {
  phase(phase: Phase): void;
  second(second: Second): void;
  fault(line: string): void;
  /** Writes a line of the run's own parts to its log, and shows it. */
  log(role: string, line: string): void;
  /** Writes a line to the run's log alone, because lines that several runs share are shown once. */
  record(role: string, line: string): void;
}

export type MachinesOfRun = Pick<MeasuredResult, "placement" | "links" | "machine_load">;

/** The evidence of a run, before it becomes a result. */
export interface RawRun extends StoreSide, MachinesOfRun {
  result: MeasuredResult;
  admissions?: Admissions;
  faults?: FaultRecord[];
  resources: MeasuredResult["resources"];
  servers_ready_s?: MeasuredResult["servers_ready_s"];
  host_load?: HostLoad;
  own_throttling?: MeasuredResult["own_throttling"];
  clock_change?: MeasuredResult["clock_change"];
  notes: string[];
}

/** The load of a run, which its own generators make, or those of a round. */
export interface RunLoad {
  readonly watch: RunWatch;
  /** Promises that reject where something fails that the load needs, and never resolve. */
  readonly failures: readonly Promise<never>[];
  /**
   * The output of the generators.
   * @param mayEnd whether the end of a role is a result of the run
   */
  output(mayEnd: (role: RunningRole) => boolean): Promise<GeneratorOutput>;
  /** Resolves when all readings of the window are taken. */
  done(): Promise<void>;
  /** Takes that the run does not wait for its generators any more. */
  leave(): void;
}

export type RunWatch = Pick<
  CounterWatch,
  "resources" | "hostLoad" | "ownThrottling" | "machineLoads" | "failures"
>;

export interface ReadyRun {
  settings: RunSettings;
  supervisor: PartSupervisor;
  store: RunStore;
  servers: readonly RunningRole[];
  listener: RunListener;
  injection: FaultInjection;
  machines: SeveralMachines | undefined;
  /** Whether runs of other targets are up at the same time. */
  isByTurns: boolean;
}

export interface RunOptions {
  machines?: SeveralMachines | undefined;
  /** The name of the run among several that are up at once; absent where there is only one. */
  run?: string;
  /** Starts the load; absent where the run has its own generators. */
  startLoad?: (run: ReadyRun) => Promise<RunLoad>;
}

/**
 * Makes one run with a fresh store, service, servers and generator, which are all stopped whatever
 * happens.
 */
export async function executeRun(
  request: RequestedRun,
  runtime: Runtime,
  lease: Lease,
  listener: RunListener,
  { machines, run, startLoad = startGenerators }: RunOptions = {},
): Promise<RawRun> {
  const options = { machines, ...definedOnly({ run }) };
  return withOpenTarget(request, runtime, lease, listener, options, async (ready, complete) => {
    const load = await startLoad(ready);
    try {
      return complete(await measure(ready, load, runtime.counterSource));
    } finally {
      load.leave();
    }
  });
}

/** Adds to the evidence of a run what is known of the whole time in which its parts are up. */
export type Completed = (raw: RawRun) => RawRun;

/** Starts a fresh store, service and servers, which are all stopped after `use`, whatever happens. */
export async function withOpenTarget<Value>(
  request: RequestedRun,
  runtime: Runtime,
  lease: Lease,
  listener: RunListener,
  { machines, run }: Omit<RunOptions, "startLoad">,
  use: (ready: ReadyRun, complete: Completed) => Promise<Value>,
): Promise<Value> {
  const settings = { ...request, runNonce: randomBytes(12).toString("hex") };
  const place = { runtime, lease, log: listener.log, ...definedOnly({ run }) };
  const clocks = new ClockComparison();
  try {
    return await withParts(layoutOf(settings), place, async ({ supervisor, started }) => {
      const opened = await openRun(settings, supervisor, lease, listener, machines);
      const ready = { ...opened, isByTurns: run !== undefined };
      const complete: Completed = (raw) => {
        // A generator on another machine has another clock.
        const changes = [clocks.change(), raw.result.clock_change];
        const clock_change = largestChange(changes.filter((change) => change !== undefined));
        return { ...raw, ...definedOnly({ clock_change }), ...placementOf(started) };
      };
      try {
        return await use(ready, complete);
      } finally {
        await ready.injection.undoAll();
      }
    });
  } finally {
    listener.phase("stopped");
  }
}

/** Starts the store, the service and the servers of a run. */
async function openRun(
  settings: RunSettings,
  supervisor: PartSupervisor,
  lease: Lease,
  listener: RunListener,
  machines: SeveralMachines | undefined,
): Promise<Omit<ReadyRun, "isByTurns">> {
  listener.phase("starting");
  const store = storeOf(settings, supervisor);
  await store.open();
  listener.phase("store ready");
  const servers = await supervisor.start("server");
  if (settings.app) await requireServed(servers, settings.app, settings);
  if (servers.length > 0) listener.phase("server ready");

  const { faults = [], extent } = settings.configuration;
  const injection = new FaultInjection({
    faults,
    window_s: "duration_s" in extent ? extent.duration_s : 0,
    targetsOf: ({ role }) => ({
      roles: supervisor.roles(role),
      store,
      restart: (part) => lease.restart(part),
    }),
    log: (line) => listener.fault(line),
  });
  return { settings, supervisor, store, servers, listener, injection, machines };
}

/** Starts the load of a run that has its own generators. */
async function startGenerators(run: ReadyRun): Promise<RunLoad> {
  const { settings, supervisor, store, servers, listener, injection, machines } = run;
  const { warmupS, configuration } = settings;
  const warmup_s = longestWarmupS(warmupS, configuration.load.model);
  const generators = new Generators(await supervisor.start("generator"), warmup_s);
  const roles = [...store.nodes, ...servers, ...generators.roles];
  const watch = new CounterWatch(roles, undefined, machines);
  const readings = new DrainedReadings(generators.parts, store, watch, () =>
    generators.silence.expectAll(),
  );
  generators.follow(readings, {
    phase: (phase, opens_in_ms) => {
      listener.phase(phase);
      if (opens_in_ms !== undefined) injection.windowOpensIn(opens_in_ms);
    },
    second: (second) => listener.second(second),
  });
  // A generator that was killed announces no end.
  for (const { exited } of generators.parts) exited.then(() => watch.stop());
  return {
    watch,
    failures: [generators.silence.failed, readings.failed],
    output: (mayEnd) => generators.output(supervisor, mayEnd),
    done: () => readings.done(),
    leave: () => generators.silence.stop(),
  };
}

/**
 * The faults with the number of reconnections, which is only known for a single fault; undefined
 * without faults.
 */
function withReconnections(
  faults: FaultRecord[],
  store: StoreEvidence | undefined,
): FaultRecord[] | undefined {
  if (faults.length === 0) return undefined;
  const { connections_under_load } = store ?? {};
  if (faults.length > 1 || connections_under_load === undefined) return faults;
  return faults.map((fault) => ({ ...fault, store_reconnections: connections_under_load }));
}

/** Whether the store is itself the limiter, so that it is what is measured. */
export const storeDecides = ({ settings }: Pick<ReadyRun, "settings">): boolean =>
  findStore(settings.configuration.target.store).decides ?? false;

/** What the generators say of a run, unless something fails before that the run needs. */
export function outputOf(run: ReadyRun, load: RunLoad): Promise<GeneratorOutput> {
  // The end of a store that decides is the outcome of the run.
  const decides = storeDecides(run);
  const output = load.output((role) => decides && role.kind === "store");
  return Promise.race([output, ...load.failures, run.injection.failed]);
}

/** The evidence of a run that is alone with its load, when the load has ended. */
export async function measure(
  run: ReadyRun,
  load: RunLoad,
  counterSource: string,
): Promise<RawRun> {
  const { store, injection } = run;
  const { request_counts, ...result } = await outputOf(run, load);
  await load.done();
  const faults = await injection.finish();

  const notes: string[] = [];
  const storeSide = await storeSideOf(run, notes, () => store.readAfter());
  if (store.relays.length > 0)
    notes.push("a relay stood between servers and store in the whole run");
  const withoutStore = sum(
    result.consumers.map(({ at_end }) => at_end.consumes?.without_store ?? 0),
  );
  if (withoutStore > 0) notes.push(`${withoutStore} consumes were decided without the store`);
  const admissions = await admissionsOf(run, storeSide.store, request_counts, withoutStore);
  run.listener.phase("read");
  const raw = await rawRunOf(run, load.watch, counterSource, { result, storeSide, notes });
  return {
    ...raw,
    admissions,
    ...definedOnly({ faults: withReconnections(faults, storeSide.store) }),
  };
}

/** What was read and measured of a run, besides the counters of its roles. */
interface MeasuredRun {
  result: MeasuredResult;
  storeSide: StoreSide;
  notes: readonly string[];
}

/** The evidence of a run, with the use of its roles between the readings of its watch. */
export async function rawRunOf(
  run: ReadyRun,
  watch: RunWatch,
  counterSource: string,
  { result, storeSide, notes }: MeasuredRun,
): Promise<RawRun> {
  const { settings, supervisor, machines } = run;
  const loaded_s = loadedS(result);
  const requests = servedRequests(result.consumers, result);
  const in_long_turns_s = result.turns?.long?.loaded_s;
  const resources = await watch.resources(counterSource, loaded_s, requests, in_long_turns_s);
  const external_us = settings.external ? cpuUsOf(storeSide.store) : 0;
  const host_load = await watch.hostLoad(loaded_s, result.resources, external_us);
  const own_throttling = await watch.ownThrottling();
  const machine_load = await watch.machineLoads(loaded_s, result.resources);
  return {
    result,
    resources,
    notes: [...watch.failures, ...notes],
    ...definedOnly({
      servers_ready_s: unlessEmpty(supervisor.readyS("server")),
      // Where there are several machines, each has its own load.
      host_load: machines ? undefined : host_load,
      own_throttling,
      machine_load: unlessEmpty(machine_load),
    }),
    ...storeSide,
    ...definedOnly({ store: ownEvidence(run, storeSide.store) }),
  };
}

/** What the readings of the store say of this run. */
function ownEvidence(
  { settings, isByTurns }: ReadyRun,
  store: StoreEvidence | undefined,
): StoreEvidence | undefined {
  return store && settings.external && isByTurns ? withoutSharedCounts(store) : store;
}

/**
 * The readings of store and service.
 * @param notes takes a line where the store that decides has ended
 */
export async function storeSideOf(
  run: ReadyRun,
  notes: string[],
  read: () => Promise<StoreSide>,
): Promise<StoreSide> {
  try {
    return await read();
  } catch (error) {
    if (!storeDecides(run) || !(error instanceof PartFailed)) throw error;
    notes.push(`${error.role} ${error.message}`);
    return {};
  }
}

const unlessEmpty = <Members extends object>(members: Members): Members | undefined =>
  Object.keys(members).length > 0 ? members : undefined;

/** Whether the counts that a store holds for keys mean nothing after a fault. */
function losesCounts({ action }: Fault): boolean {
  const { effects } = propertiesOfAction(action);
  return effects.includes("forgets") || effects.includes("cuts");
}

export async function admissionsOf(
  { settings, store }: ReadyRun,
  evidence: StoreEvidence | undefined,
  requestCounts: RequestCounts | undefined,
  withoutStore: number,
): Promise<Admissions> {
  const { configuration } = settings;
  if (configuration.faults?.some(losesCounts))
    return {
      status: "not known",
      reason: "a fault was planned: counts may be lost, or calls repeated",
    };
  // The rule M14 reports evictions.
  if (evidence?.nodes.some(({ at_end }) => (at_end.evicted_keys ?? 0) > 0))
    return { status: "not known", reason: "the store evicted keys" };
  if (!evidence) return { status: "not known", reason: "there is no reading of a store" };
  return readAdmissions({
    configuration,
    keyPrefix: keyPrefixOf(settings),
    requestCounts,
    withoutStore,
    elapsedS: (performance.now() - store.readBefore_ms) / 1000,
    readNumbers: (keys) => store.readNumbers(keys),
  });
}

/**
 * The CPU time of an external store over the whole run in µs, because it may run on this machine; 0
 * where it is not counted.
 */
function cpuUsOf(store: StoreEvidence | undefined): number {
  const used = ({ cpu_user_us = 0, cpu_system_us = 0 }: StoreReading): number =>
    cpu_user_us + cpu_system_us;
  return sum(
    (store?.nodes ?? []).map(({ at_start, at_end }) => Math.max(0, used(at_end) - used(at_start))),
  );
}
