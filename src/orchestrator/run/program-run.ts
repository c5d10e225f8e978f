import { BenchError, EXIT, messageOf } from "../../contract/errors.js";
import { rounded } from "../../contract/numbers.js";
import type { ProbeAction, ProbeRequest } from "../../contract/probe-env.js";
import type { PrintedResult } from "../../contract/result.js";
import { roleId } from "../../contract/role.js";
import type { ProbeReport, StoreEvidence, StoreFeature } from "../../contract/store.js";
import type { RunningPart, Runtime } from "../../runtimes/types.js";
import {
  benchmarkArguments,
  type PrintedFigures,
  parseBenchmarkCsv,
} from "../../targets/benchmarks/index.js";
import { findOperation, KEYSPACE } from "../../targets/benchmarks/operations.js";
import { findStore } from "../../targets/resolve.js";
import type { Lease } from "../ownership/lease.js";
import { GENERATOR } from "./layout.js";
import { measureLoadProgram } from "./load-program-run.js";
import { PartFailed, placementOf } from "./part-supervisor.js";
import {
  calibrate,
  type ProgramParts,
  type ProgramRunSettings,
  programFacts,
  type RawPrintedRun,
  runProgram,
  runWatched,
  withProgramParts,
} from "./program-parts.js";
import type { RunListener } from "./run.js";
import { type RunStore, storeOf } from "./store.js";

const PROBE_TIMEOUT_S = 60;

const ask = async (store: RunStore, actions: ProbeAction[], more: Partial<ProbeRequest> = {}) =>
  (await store.perform(actions, { timeout_s: PROBE_TIMEOUT_S, ...more })) ?? {};

function figuresIn(output: string): PrintedFigures {
  try {
    return parseBenchmarkCsv(output);
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
      const { lacks = [] } = await withProgramParts(each, place, async ({ settings, supervisor }) => {
        const store = storeOf(settings, supervisor);
        await store.open();
        return ask(store, ["features"]);
      });
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
  listener.phase("starting");
  return withProgramParts(request, { runtime, lease, log: listener.log }, (parts) =>
    measure(parts, runtime, listener),
  ).finally(() => listener.phase("stopped"));
}

/** The number of operations comes from a calibration, which is the warm-up: no program runs for a time. */
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
          benchmarkArguments(place, {
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
  const perSecondIn = (output: string) => figuresIn(output).per_second;
  const { rate, warmup_s } = await calibrate(settings, run, perSecondIn);

  const requests = Math.max(load.connections, Math.ceil(rate * extent.duration_s));
  const before = await ask(opened, ["read"], { decision_commands });
  listener.phase("measure");
  const { ended, useOf } = await runWatched(opened.nodes, runtime.counterSource, (onStarted) =>
    run(requests, extent.duration_s, onStarted),
  );
  listener.phase("finished");
  const figures = figuresIn(ended.output);
  const after = await ask(opened, ["read"], { decision_commands });
  listener.phase("read");

  const duration = rounded(requests / figures.per_second, 6);
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

function commandThreadsOf(id: string): Pick<StoreEvidence, "command_threads"> {
  const { commandThreads = 1 } = findStore(id);
  return commandThreads > 1 ? { command_threads: commandThreads } : {};
}

function memoryOf(empty: ProbeReport, after: ProbeReport): PrintedResult["memory"] {
  const [before, end] = [empty.readings?.[0], after.readings?.[0]];
  if (!end?.keys || before?.used_memory_bytes === undefined || end.used_memory_bytes === undefined)
    return undefined;
  const used_bytes = end.used_memory_bytes - before.used_memory_bytes;
  return { keys: end.keys, used_bytes, bytes_per_key: rounded(used_bytes / end.keys, 2) };
}
