import { usageError } from "../../kit/errors.js";
import { TRACE } from "../../traffic/trace.js";
import { type ReadTrace, readTrace } from "../files/trace-log.js";
import type { Settings } from "./setting-layers.js";

/**
 * The trace of `--trace`, with notices on how it was read; undefined without the flag.
 * @throws usageError for a file that cannot be read, and next to another traffic
 */
export function requestedTrace(settings: Settings, notices: string[]): ReadTrace | undefined {
  const file = settings.find("trace");
  if (!file) {
    const useless = settings.find("key") ?? settings.find("trace-zone");
    if (useless) throw usageError(`${useless.source} needs --trace`);
    return undefined;
  }

  const traffic = settings.get("traffic");
  if (settings.isGiven("traffic") && traffic.value !== TRACE)
    throw usageError(`${file.source} and ${traffic.source}: give one of them`);

  const trace = readTrace(file.value, {
    source: file.source,
    keys: settings.list("key"),
    zone: settings.find("trace-zone")?.value,
  });
  notices.push(...traceNotices(trace, file.source));
  return trace;
}

/**
 * Notices that say how the trace was read. They hold none of its keys, because the campaign's log
 * keeps the notices.
 */
function traceNotices(trace: ReadTrace, source: string): string[] {
  const { format, example, left_out, zero_bytes, cost } = trace;
  const keys = example.keys.join(" or ");
  const zone = example.names_zone ? "" : "; its times name no zone";
  const notices = [
    `${source}: read as ${format}, the time in ${example.time}, the key in ${keys}${zone}`,
  ];

  if (left_out > 0)
    notices.push(`${source}: ${left_out} lines without a time or a key are left out`);
  if (zero_bytes > 0)
    notices.push(
      `${source}: ${zero_bytes} bytes of zeros are left out: the log was truncated while it was written`,
    );
  if (cost.most > 1)
    notices.push(
      `${source}: its costs are ${cost.least} to ${cost.most}; here all requests have the same: give --cost`,
    );
  return notices;
}
