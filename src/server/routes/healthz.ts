import { getHeapStatistics } from "node:v8";
import type { ProcessDiagnosis } from "../../contract/diagnosis.js";
import type { Health, Usage } from "../../contract/server-api.js";
import { definedOnly } from "../../kit/defined-only.js";
import { messageOf } from "../../kit/errors.js";
import { DEFAULT_FRAMEWORK } from "../../targets/frameworks.js";
import type { Handler } from "../frameworks/framework.js";
import type { AppDependencies } from "../lib/app-dependencies.js";
import type { Instruments } from "../lib/instruments.js";
import type { Counters } from "../lib/server-counters.js";

/** `GET /diagnosis` gives what the instruments saw since the last request. */
export function diagnosis(counters: Counters, instruments: Pick<Instruments, "take">): Handler {
  let finished = 0;
  return (_request, reply) => {
    const reading: ProcessDiagnosis = {
      requests: counters.finished - finished,
      ...instruments.take(),
    };
    finished = counters.finished;
    reply.send(reading);
  };
}

/**
 * `GET /usage` gives cumulative counters of this process, of which the caller computes differences.
 */
export function usage({ spec, limiter }: AppDependencies, counters: Counters): Handler {
  return (_request, reply) => {
    const cpu = process.cpuUsage();
    const loop = performance.eventLoopUtilization();
    const reading: Usage = definedOnly({
      run_nonce: spec.run_nonce,
      uptime_s: process.uptime(),
      cpu_user_us: cpu.user,
      cpu_system_us: cpu.system,
      heap_used_bytes: getHeapStatistics().used_heap_size,
      resident_bytes: process.memoryUsage.rss(),
      event_loop_active_ms: loop.active,
      event_loop_idle_ms: loop.idle,
      requests: counters.requests,
      in_flight: counters.inFlight,
      consumes: limiter ? { ...limiter.consumes } : undefined,
    });
    reply.send(reading);
  };
}

/**
 * `GET /healthz` gives identity, run and versions of this server, or 503 when the store does not
 * answer.
 */
export function healthz({
  spec,
  target,
  client,
  limiter,
  framework,
  plugins = [],
}: AppDependencies): Handler {
  const identity = {
    service: "ratelimit-bench-server",
    run_nonce: spec.run_nonce,
    pid: process.pid,
  } as const;

  return async (_request, reply) => {
    let store: string | undefined;
    try {
      store = await client.storeVersion();
    } catch (error) {
      return reply
        .status(503)
        .send({ ...identity, status: "store does not answer", error: messageOf(error) });
    }

    const health: Health = definedOnly({
      ...identity,
      status: "ok" as const,
      target,
      workloads: [{ id: "light" }, { id: "heavy", complexity: spec.server.complexity }],
      limits: limiter ? spec.limits : undefined,
      limiter_script: limiter?.script,
      versions: definedOnly({
        node: process.versions.node,
        [target.framework ?? DEFAULT_FRAMEWORK]: framework.version,
        client: client.version,
        limiter: limiter?.version,
        store,
      }),
      client_settings: client.settings,
      plugins: plugins.length > 0 ? [...plugins] : undefined,
    });

    return reply.send(health);
  };
}
