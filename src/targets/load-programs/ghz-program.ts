import { join } from "node:path";
import { z } from "zod";
import { SERVICE_CONNECTIONS } from "../clients/client-settings.js";
import { protoText } from "../clients/grpc-method.js";
import { addressOf, CALL_TIMEOUT_S, CALLS_FILE, type LoadProgram } from "./load-program.js";
import { amountSchema, inMilliseconds, jsonOf, quoted } from "./printed-json.js";

const PROTO_FILE = "calls.proto";

/** The printed figures. Durations are in nanoseconds (https://ghz.sh/docs/output). */
const figuresSchema = z.object({
  count: amountSchema,
  total: z.number().positive(),
  average: amountSchema,
  fastest: amountSchema,
  slowest: amountSchema,
  statusCodeDistribution: z.record(z.string(), amountSchema),
  latencyDistribution: z.array(z.object({ percentage: amountSchema, latency: amountSchema })),
});

export const ghz: LoadProgram = {
  id: "ghz",
  program: "ghz",
  summary: "ghz makes the calls over gRPC, instead of Node: a control",
  protocol: "grpc",
  withoutVersionFlag: true,
  sends: "a list",
  runsFor: "time",
  opensWith: 0,
  files: ({ calls, protocol }) => {
    if (protocol.kind !== "grpc") throw new Error("ghz speaks gRPC");
    return { [CALLS_FILE]: JSON.stringify(calls), [PROTO_FILE]: protoText(protocol.method) };
  },
  arguments(work, seconds, folder) {
    if (work.protocol.kind !== "grpc") throw new Error("ghz speaks gRPC");
    const { package: path, service, method } = work.protocol.method;
    return [
      "--insecure",
      "--proto",
      join(folder, PROTO_FILE),
      "--call",
      `${path}.${service}.${method}`,
      "--concurrency",
      String(work.connections),
      "--connections",
      String(Math.min(SERVICE_CONNECTIONS, work.connections)),
      "--duration",
      `${seconds}s`,
      // Without a wait the calls under way at the end would count as errors.
      "--duration-stop",
      "wait",
      "--timeout",
      `${CALL_TIMEOUT_S}s`,
      "--data-file",
      join(folder, CALLS_FILE),
      "--disable-template-data",
      "--disable-template-functions",
      "--format",
      "json",
      addressOf(work),
    ];
  },
  figuresIn(output) {
    const figures = jsonOf(output, figuresSchema);
    const failures = Object.entries(figures.statusCodeDistribution)
      .filter(([code, count]) => code !== "OK" && count > 0)
      .map(([code, count]) => `${count} with the status ${code}`);

    const percentile = (percent: number): number => {
      const entry = figures.latencyDistribution.find(({ percentage }) => percentage === percent);
      if (entry === undefined) throw new Error(`it printed no p${percent}: ${quoted(output)}`);
      return entry.latency;
    };
    const { average, fastest: min, slowest: max } = figures;
    return {
      calls: figures.count,
      per_second: (figures.count * 1e9) / figures.total,
      refused: 0,
      failures: failures.join(", "),
      latency: inMilliseconds(
        { average, min, p50: percentile(50), p95: percentile(95), p99: percentile(99), max },
        1e6,
      ),
    };
  },
};
