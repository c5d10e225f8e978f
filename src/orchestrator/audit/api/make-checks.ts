import type { ApiDefect } from "../../../contract/api-defects.js";
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

type Made = Omit<ApiOutcome, "status"> &
  Pick<Finding, "seconds"> & { status: ApiOutcome["status"] | "failed" };

/** Defects without whose absence nothing else can be tried, and what they leave untried. */
const ENDING: Partial<Readonly<Record<ApiDefect, string>>> = {
  "never-active": "no request was denied, so there is no limit to try",
  "keys-share-a-quota": "all keys share a quota, so none is fresh: check --key",
};

/**
 * Defects that show more of another one. Each connection with a quota of its own admits more at once,
 * for example.
 */
const FOLLOWING: Partial<Readonly<Record<ApiDefect, readonly ApiDefect[]>>> = {
  "quota-per-connection": ["counts-late", "rate-too-high"],
  "counts-late": ["rate-too-high"],
  "off-by-one": ["quota-headers-untrue"],
  "other-quota": ["quota-headers-untrue"],
};

/** The check whose defect shows in another one, too; undefined where there is none. */
const causeOf = (api: AuditedApi, defect: ApiDefect): string | undefined =>
  [...api.defects].find(([cause]) => FOLLOWING[cause]?.includes(defect))?.[1];

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
    const { defect } = made;
    const remedy = defect ? { remedy: remedies[defect] } : {};
    const cause = defect && causeOf(api, defect);
    const follows = cause === undefined ? {} : { consequence_of: cause };
    const finding: Finding = { check: check.id, ...limits, ...made, ...remedy, ...follows };
    findings.set(check.id, finding);
    if (defect) api.defects.set(defect, check.id);
    listener.finding(finding);
  };

  for (const [check, reason] of skips) add(check, { status: "skipped", reason, seconds: 0 });
  const endingReason = () => [...api.defects.keys()].map((defect) => ENDING[defect]).find(Boolean);
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
