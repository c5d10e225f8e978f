import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from "prom-client";
import type { RequestLimiter } from "../../targets/target-types.js";
import type { Handler } from "../frameworks/framework.js";
import type { Counters } from "../lib/server-counters.js";

/**
 * Adds the route `GET /metrics` for Prometheus. The hot path only adds to plain numbers. The
 * process metrics start with the first request to this route, so that a benchmark without such
 * requests does not pay for them.
 */
export function metrics(
  counters: Counters,
  limiter: Pick<RequestLimiter, "consumes"> | undefined,
): Handler {
  let registry: Registry | undefined;
  return async (_request, reply) => {
    registry ??= createRegistry(counters, limiter);
    return reply.header("content-type", registry.contentType).send(await registry.metrics());
  };
}

function createRegistry(
  counters: Counters,
  limiter: Pick<RequestLimiter, "consumes"> | undefined,
): Registry {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  counter("ratelimit_hits_total", "Requests refused with 429", () => counters.hits);
  counter(
    "ratelimit_requests_total",
    "Requests to limited routes that began",
    () => counters.requests,
  );
  labelled("ratelimit_consumes_total", "Consumes, one for each descriptor", "outcome", () => {
    const { allowed, limited, failed } = limiter?.consumes ?? { allowed: 0, limited: 0, failed: 0 };
    return { allowed, limited, failed };
  });
  labelled("ratelimit_answers_total", "Answers of limited routes", "status", () =>
    Object.fromEntries(
      Object.entries(counters.answers).map(([key, count]) => [key.slice(1), count]),
    ),
  );
  new Gauge({
    name: "ratelimit_requests_in_flight",
    help: "Requests to limited routes whose handler or consumes are not finished",
    registers,
    collect() {
      this.set(counters.inFlight);
    },
  });
  registry.registerMetric(consumeDuration(counters));
  return registry;

  function counter(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  function labelled(
    name: string,
    help: string,
    label: string,
    read: () => Record<string, number>,
  ): void {
    new Counter({
      name,
      help,
      labelNames: [label],
      registers,
      collect() {
        this.reset();
        for (const [value, count] of Object.entries(read())) this.inc({ [label]: value }, count);
      },
    });
  }
}

/**
 * Returns the histogram of consumes. prom-client's own class cannot take counts, and a registry
 * only uses name and `get`.
 */
function consumeDuration(counters: Counters): Metric {
  const name = "ratelimit_consume_duration_seconds";
  const help = "Time from asking the limiter to its last decision on a request";
  const get = async () => {
    const { buckets, count, sum_s } = counters.consumeDuration.read();
    const bucket = (le: number | string, value: number) => ({
      metricName: `${name}_bucket`,
      labels: { le },
      value,
    });
    return {
      name,
      help,
      type: "histogram",
      aggregator: "sum",
      values: [
        ...buckets.map(({ le_s, count: cumulated }) => bucket(le_s, cumulated)),
        bucket("+Inf", count),
        { metricName: `${name}_sum`, labels: {}, value: sum_s },
        { metricName: `${name}_count`, labels: {}, value: count },
      ],
    };
  };

  return { name, help, get } as unknown as Metric;
}
