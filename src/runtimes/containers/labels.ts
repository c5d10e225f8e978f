import { hostname } from "node:os";
import type { Owner } from "../types.js";

/** On everything that we start. Nothing without them is ever touched. */
export const OWNER_LABEL = "ratelimit-bench.owner";
export const CAMPAIGN_LABEL = "ratelimit-bench.campaign";
export const ROLE_LABEL = "ratelimit-bench.role";

/** An engine may serve several hosts, and a process id means something on one host alone. */
export const ownerText = ({ pid, started }: Owner): string => `${pid}:${started}:${hostname()}`;

/** @returns undefined when it was written on another host, or by somebody else */
export function ownerOf(text: string | undefined): Owner | undefined {
  const { pid, started, host } = /^(?<pid>\d+):(?<started>.*):(?<host>[^:]*)$/.exec(text ?? "")?.groups ?? {};
  return pid !== undefined && started !== undefined && host === hostname()
    ? { pid: Number(pid), started }
    : undefined;
}
