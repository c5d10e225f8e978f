import type { Finding } from "../../../contract/audit.js";
import { messageOf } from "../../../kit/errors.js";
import { rounded } from "../../../kit/numbers.js";
import { NotChecked } from "../audited-system.js";
import type { ApiCheck, ApiOutcome } from "./api-check.js";
import { type ApiPlan, CHECKS_AT_ONCE } from "./api-plan.js";
import type { AuditedApi } from "./audited-api.js";
import { OutOfRequests } from "./pacer.js";
import { remedies } from "./remedies.js";

interface Listener {
  check(check: ApiCheck): void;
  finding(finding: Finding): void;
}

type Made = (ApiOutcome | { status: "failed"; reason: string }) & Pick<Finding, "seconds">;

/** Defects without whose absence nothing else can be tried, and what they leave untried. */
const ENDING: Readonly<Record<string, string>> = {
  "never-active": "no request was denied, so there is no limit to try",
  "keys-share-a-quota": "all keys share a quota, so none is fresh: check --key",
};

/**
 * Makes the checks of an API: those that others rely on one after the other, and then the others at
 * once. A check that fails does not keep the others from being made.
 * @returns the findings in the order of `all`
 */
export async function makeChecks(
  api: AuditedApi,
  { checks, skips }: ApiPlan,
  all: readonly ApiCheck[],
  listener: Listener,
): Promise<Finding[]> {
  const findings = new Map<string, Finding>();
  const add = (check: ApiCheck, made: Made) => {
    const { window_s, points } = api.limits;
    const limits = Number.isInteger(window_s) ? { limits: { points, window_s, block_s: 0 } } : {};
    const defect = "defect" in made ? made.defect : undefined;
    const remedy = defect ? { remedy: remedies[defect] } : {};
    const finding: Finding = { check: check.id, ...limits, ...made, ...remedy };
    findings.set(check.id, finding);
    listener.finding(finding);
  };

  for (const [check, reason] of skips) add(check, { status: "skipped", reason, seconds: 0 });
  const endingReason = () =>
    [...findings.values()].map(({ defect = "" }) => ENDING[defect]).find(Boolean);
  const make = async (check: ApiCheck) => {
    const reason = endingReason();
    if (reason !== undefined) return add(check, { status: "skipped", reason, seconds: 0 });
    listener.check(check);
    add(check, await outcomeOf(check, api));
  };

  for (const check of checks.filter(({ isFirst }) => isFirst)) await make(check);
  const others = checks.filter(({ isFirst, isLast }) => !isFirst && !isLast);
  const lanes = api.settings.carrier.hasOneKey ? 1 : CHECKS_AT_ONCE;
  const runLane = async () => {
    for (let check = others.shift(); check; check = others.shift()) await make(check);
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  for (const check of checks.filter(({ isLast }) => isLast)) await make(check);
  return all.flatMap(({ id }) => findings.get(id) ?? []);
}

/** The outcome of a check. @throws the reason of the signal, and errors that are none of the API */
async function outcomeOf(check: ApiCheck, api: AuditedApi): Promise<Made> {
  const began = performance.now();
  const seconds = () => rounded((performance.now() - began) / 1000, 1);
  try {
    const outcome = await check.run(api);
    return { ...outcome, seconds: seconds() };
  } catch (error) {
    if (!(error instanceof NotChecked || error instanceof OutOfRequests)) throw error;
    return { status: "failed", reason: messageOf(error), seconds: seconds() };
  }
}
