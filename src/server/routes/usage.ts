import { getHeapStatistics } from "node:v8";
import type { Usage } from "../../contract/server-api.js";
import type { Handler } from "../frameworks/framework.js";
import type { AppDependencies } from "../lib/app-dependencies.js";
import type { Counters } from "../lib/counters.js";

/** `GET /usage`: cumulative counters of this process; the caller computes differences over a window. */
export function usage({ spec, limiter }: AppDependencies, counters: Counters): Handler {
  return (_request, reply) => {
    const cpu = process.cpuUsage();
    const loop = performance.eventLoopUtilization();
    const reading: Usage = {
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
      ...(limiter ? { consumes: { ...limiter.consumes } } : {}),
    };
    reply.send(reading);
  };
}
