import { join } from "node:path";
import { z } from "zod";
import { addressOf, CALL_TIMEOUT_S, CALLS_FILE, type LoadProgram } from "./load-program.js";
import { amountSchema, inMilliseconds, jsonOf } from "./printed-json.js";

const SCRIPT_FILE = "calls.lua";

/**
 * A script of wrk: it sends the lines of a file as bodies, and prints its figures in µs as one line
 * of JSON.
 */
const SCRIPT = `local calls, at = {}, 0

function init(arguments)
  local headers = { ["Content-Type"] = "application/json" }
  for body in io.lines(arguments[#arguments]) do
    calls[#calls + 1] = wrk.format("POST", nil, headers, body)
  end
end

function request()
  at = at % #calls + 1
  return calls[at]
end

function done(summary, latency)
  local errors = summary.errors
  local function percentile(share) return latency:percentile(share) end
  io.write(string.format(
    '{"calls":%.0f,"duration":%.0f,"refused":%.0f,"connect":%.0f,"read":%.0f,"write":%.0f,"timeout":%.0f,'
      .. '"average":%.1f,"min":%.0f,"p50":%.0f,"p95":%.0f,"p99":%.0f,"max":%.0f}\\n',
    summary.requests, summary.duration, errors.status, errors.connect, errors.read, errors.write, errors.timeout,
    latency.mean, latency.min, percentile(50), percentile(95), percentile(99), latency.max))
end
`;

const figuresSchema = z.object({
  calls: amountSchema,
  duration: z.number().positive(),
  refused: amountSchema,
  connect: amountSchema,
  read: amountSchema,
  write: amountSchema,
  timeout: amountSchema,
  average: amountSchema,
  min: amountSchema,
  p50: amountSchema,
  p95: amountSchema,
  p99: amountSchema,
  max: amountSchema,
});

export const wrk: LoadProgram = {
  id: "wrk",
  program: "wrk",
  summary: "wrk makes the calls over HTTP, instead of Node: a control",
  protocol: "http",
  sends: "a list",
  runsFor: "time",
  opensWith: 0,
  files: ({ calls }) => ({
    [CALLS_FILE]: `${calls.map((call) => JSON.stringify(call)).join("\n")}\n`,
    [SCRIPT_FILE]: SCRIPT,
  }),
  arguments(work, seconds, folder) {
    if (work.protocol.kind !== "http") throw new Error("wrk speaks HTTP");
    return [
      "-t",
      "1",
      "-c",
      String(work.connections),
      "-d",
      `${Math.max(1, Math.round(seconds))}s`,
      "--timeout",
      `${CALL_TIMEOUT_S}s`,
      "-s",
      join(folder, SCRIPT_FILE),
      `http://${addressOf(work)}${work.protocol.path}`,
      "--",
      join(folder, CALLS_FILE),
    ];
  },
  figuresIn(output) {
    const lastLine = output.trim().split("\n").at(-1) ?? "";
    const figures = jsonOf(lastLine, figuresSchema);
    const { calls, duration, refused, connect, read, write, timeout, ...latency } = figures;
    const counts = {
      "failed connections": connect,
      "read errors": read,
      "write errors": write,
      "time-outs": timeout,
    };
    const failures = Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([kind, count]) => `${count} ${kind}`);
    return {
      calls,
      per_second: (calls * 1e6) / duration,
      refused,
      failures: failures.join(", "),
      latency: inMilliseconds(latency, 1000),
    };
  },
};
