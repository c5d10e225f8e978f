import type { Plan } from "../../src/contract/plan.js";
import type { Environment } from "../../src/kit/env.js";
import { makePlan, type PlanContext } from "../../src/orchestrator/plan/make-plan.js";
import { parseCampaign } from "../../src/orchestrator/request/parse-request.js";
import type { Request } from "../../src/orchestrator/request/request.js";

/**
 * What a campaign is asked for with these flags: `--clients iovalkey` alone and seed 1 unless they
 * say otherwise.
 */
export function requestOf(...flags: readonly string[]): Request {
  const areNamed = ["--clients", "--quick", "--preset"].some((flag) => flags.includes(flag));
  const clients = areNamed ? [] : ["--clients", "iovalkey"];
  const seed = flags.includes("--seed") ? [] : ["--seed", "1"];
  return parsed([...clients, ...seed, ...flags]);
}

/** What exactly these flags and variables ask for. */
export function parsed(argv: readonly string[], env: Environment = {}): Request {
  const request = parseCampaign(argv, env);
  if (!request) throw new Error("these flags ask for help");
  return request;
}

/** The plan of a machine that has everything. */
export const planFor = (...flags: readonly string[]): Plan =>
  makePlan(requestOf(...flags), everything);

/** The targets of its configurations, in their order. */
export const labelsOf = ({ configurations }: Pick<Plan, "configurations">): string[] =>
  configurations.map(({ configuration }) => configuration.target.label);

/** Machines to plan for. */
export const onlyValkey: PlanContext = { available: (store) => store !== "redis" };
export const everything: PlanContext = { available: () => true };
