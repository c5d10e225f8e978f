import { hostname } from "node:os";
import type { Owner } from "../runtime-types.js";

/** Labels of everything that the harness starts. It never removes anything without them. */
export const OWNER_LABEL = "ratelimit-bench.owner";
export const CAMPAIGN_LABEL = "ratelimit-bench.campaign";
export const ROLE_LABEL = "ratelimit-bench.role";

/**
 * With the host name, because an engine may serve several hosts and a process id is only valid on
 * one of them.
 */
export const ownerText = ({ pid, started }: Owner): string => `${pid}:${started}:${hostname()}`;

/** @returns undefined when the label was written on another host, or not by the harness */
export function ownerOf(text: string | undefined): Owner | undefined {
  const { pid, started, host } =
    /^(?<pid>\d+):(?<started>.*):(?<host>[^:]*)$/.exec(text ?? "")?.groups ?? {};
  return pid !== undefined && started !== undefined && host === hostname()
    ? { pid: Number(pid), started }
    : undefined;
}
