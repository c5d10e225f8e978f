import type { PlanContext } from "../../src/orchestrator/plan/plan.js";
import { parseCampaign } from "../../src/orchestrator/request/parse-request.js";
import type { Request } from "../../src/orchestrator/request/request.js";

/** What a campaign is asked for with these flags: `--clients iovalkey` alone and seed 1 unless they say otherwise. */
export function requestOf(...flags: readonly string[]): Request {
  const areNamed = ["--clients", "--quick", "--preset"].some((flag) => flags.includes(flag));
  const clients = areNamed ? [] : ["--clients", "iovalkey"];
  const seed = flags.includes("--seed") ? [] : ["--seed", "1"];
  const request = parseCampaign([...clients, "--no-reference", ...seed, ...flags], {});
  if (!request) throw new Error("these flags ask for help");
  return request;
}

/** Machines to plan for. */
export const onlyValkey: PlanContext = { available: (store) => store !== "redis" };
export const everything: PlanContext = { available: () => true };
