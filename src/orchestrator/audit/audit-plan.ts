import type { Audit } from "../../contract/audit.js";
import type { Target } from "../../contract/target.js";
import { usageError } from "../../kit/errors.js";
import { type Availability, otherFramework, resolveTarget } from "../../targets/resolve.js";
import type { RequestedTargets } from "../request/request.js";
import { targetTexts } from "../request/target-texts.js";
import { counted, durationText } from "../ui/text.js";
import type { Check } from "./check.js";

/** What an audit checks, and about how long it takes. */
export interface AuditPlan {
  targets: Target[];
  skips: Audit["skips"];
  notes: string[];
  checks: number;
  seconds: number;
}

/**
 * The mean of the 400 checks of 60 targets in results/published/audits is 5.8 s. Checks that are
 * skipped take no time.
 */
const SECONDS_A_CHECK = 6;

/** This many targets are checked at once, because an audit mostly waits for windows to end. */
export const AUDITS_AT_ONCE = 2;

/**
 * What an audit of these targets checks.
 * @param available what can be started here; everything if absent
 * @throws usageError where no target is left
 */
export function auditPlan(
  targets: RequestedTargets,
  checks: readonly Check[],
  available: Availability = () => true,
): AuditPlan {
  const resolved = resolveTargets(targetTexts(targets), available);
  const rounds = Math.ceil(resolved.targets.length / AUDITS_AT_ONCE);
  const seconds = SECONDS_A_CHECK * checks.length * rounds;
  return { ...resolved, checks: checks.length, seconds };
}

/** `3 targets, 20 checks each, about 4 min`, then what is skipped and what is to be known. */
export function auditPlanLines({ targets, skips, notes, checks, seconds }: AuditPlan): string[] {
  const names = targets.map(({ label }) => label).join(", ");
  const extent = `${counted(targets.length, "target")}, ${counted(checks, "check")} each`;
  return [
    `${extent}, about ${durationText(seconds)}: ${names}`,
    ...skips.map(({ asked, reason }) => `skipped ${asked}: ${reason}`),
    ...notes.map((note) => `note: ${note}`),
  ];
}

/** Why a target has nothing to check; undefined where it has. */
function uselessReason(target: Target): string | undefined {
  const { limiter, program } = target;
  if (limiter === "none") return "it limits nothing, so it promises nothing";
  if (program !== undefined)
    return `+${program} makes the calls without a server: check the target without it`;
  return otherFramework(target);
}

/** Those of the requested targets that can be checked here. @throws usageError where nothing is left */
function resolveTargets(
  asked: readonly string[],
  available: Availability,
): { targets: Target[]; skips: Audit["skips"]; notes: string[] } {
  const targets = new Map<string, Target>();
  const skips: Audit["skips"] = [];
  const notes: string[] = [];
  for (const text of asked) {
    const resolution = resolveTarget(text, available);
    if ("skip" in resolution) {
      skips.push({ asked: text, reason: resolution.skip });
      continue;
    }

    const { target, note } = resolution;
    const reason = uselessReason(target);
    if (reason !== undefined) {
      skips.push({ asked: text, reason });
      continue;
    }
    if (note) notes.push(note);
    targets.set(target.text, target);
  }
  if (targets.size > 0) return { targets: [...targets.values()], skips, notes };
  throw usageError(`nothing is left to audit: ${skips.map(({ reason }) => reason).join("; ")}`);
}
