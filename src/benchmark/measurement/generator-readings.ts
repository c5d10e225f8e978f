import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { GeneratorRunSpec } from "../../contract/generator-env.js";
import { isClientLayer } from "../../contract/layers.js";
import type { PluginIdentity } from "../../contract/plugins.js";
import { roleId } from "../../contract/role.js";
import type { GeneratorSpec } from "../../contract/run-spec.js";
import type { Consumes, Usage } from "../../contract/server-api.js";
import { definedOnly } from "../../kit/defined-only.js";
import { mean, sum, totals } from "../../kit/numbers.js";
import type { WorkerReading } from "../workers/protocol.js";
import type { Consumers } from "./consumers.js";

/**
 * The garbage collector that frees this thread's heap before it is read, where a run
 * measures the memory of keys; else a function that does nothing.
 */
export function garbageCollectorFor({ generator, store }: GeneratorRunSpec): () => void {
  const keepsCounters = isClientLayer(generator.layer) && store.nodes.length === 0;
  if (!keepsCounters || "duration_s" in generator.extent) return () => {};
  // The collector is only there with this flag, which no command line needs to have.
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

export const generatorId = ({ share }: Pick<GeneratorSpec, "share">): string =>
  roleId("generator", (share?.index ?? 0) + 1);

function sumOfConsumes(workers: readonly WorkerReading[]): Consumes | undefined {
  const counters = workers.flatMap(({ consumes }) => consumes ?? []);
  if (counters.length < workers.length) return undefined;

  const decisions = totals(["calls", "allowed", "limited", "failed"], counters);
  const countsCommands = counters.some(({ commands }) => commands !== undefined);
  return countsCommands ? { ...decisions, ...totals(["commands"], counters) } : decisions;
}

function usageOf(run_nonce: string, workers: readonly WorkerReading[]): Usage {
  const cpu = process.cpuUsage();
  const consumes = sumOfConsumes(workers);
  return definedOnly({
    run_nonce,
    uptime_s: process.uptime(),
    cpu_user_us: cpu.user,
    cpu_system_us: cpu.system,
    // Each thread has a heap of its own.
    heap_used_bytes:
      getHeapStatistics().used_heap_size +
      sum(workers.map(({ heap_used_bytes }) => heap_used_bytes)),
    resident_bytes: process.memoryUsage.rss(),
    // The mean, so that two readings give the mean utilisation; that of each worker is in the
    // result.
    event_loop_active_ms: mean(workers.map(({ event_loop_active_ms }) => event_loop_active_ms)),
    event_loop_idle_ms: mean(workers.map(({ event_loop_idle_ms }) => event_loop_idle_ms)),
    requests: sum(workers.map(({ requests }) => requests)),
    in_flight: sum(workers.map(({ in_flight }) => in_flight)),
    consumes,
  });
}

/**
 * Makes this process the only consumer.
 * @param readWorkers reads the counters of each worker, which is connected
 */
export async function generatorAsConsumer(
  spec: GeneratorRunSpec,
  plugins: readonly PluginIdentity[],
  readWorkers: () => Promise<WorkerReading[]>,
): Promise<Consumers> {
  const workers = await readWorkers();
  const [first] = workers;
  if (!first) throw new Error("a worker reported nothing");

  const limits = first.consumes && spec.limits;
  const collectGarbage = garbageCollectorFor(spec);

  return definedOnly({
    kind: "generator" as const,
    identities: [
      definedOnly({
        id: generatorId(spec.generator),
        run_nonce: spec.run_nonce,
        target: spec.target.text,
        workloads: [],
        limiter_script: first.limiter_script,
        client_settings: first.client_settings,
        plugins: plugins.length > 0 ? [...plugins] : undefined,
      }),
    ],
    versions: first.versions,
    limits,
    algorithm: first.algorithm,
    read: async () => {
      const readings = await readWorkers();
      collectGarbage();
      return [usageOf(spec.run_nonce, readings)];
    },
  });
}
