import type { ClaimComparison, ClaimRow } from "../../../contract/claims.js";
import type { Configuration } from "../../../contract/configuration.js";
import { usageError } from "../../../contract/errors.js";
import { isProgramLayer } from "../../../contract/layers.js";
import type { Plan } from "../../../contract/plan.js";
import { resolveTarget } from "../../../targets/resolve.js";

/** What a row can say of a configuration. */
const MEMBERS: { [Member in keyof ClaimRow]-?: (configuration: Configuration) => ClaimRow[Member] } = {
  target: ({ layer, target }) => (isProgramLayer(layer) ? undefined : target.text),
  store: ({ target }) => target.store,
  layer: ({ layer }) => layer,
  workload: ({ workload }) => workload.id,
  traffic: ({ traffic }) => traffic,
  connections: ({ load }) => (load.model === "closed" ? load.connections : undefined),
  rate: ({ load }) => (load.model === "open" ? load.rate_per_second : undefined),
  points: ({ limits }) => limits.points,
  cost: ({ limits }) => limits.cost ?? 1,
  requests: ({ extent }) => ("requests" in extent ? extent.requests : undefined),
  operation: ({ layer, workload }) => (isProgramLayer(layer) ? workload.id : undefined),
  payload_bytes: ({ workload }) => workload.payload_bytes,
};

/** How a member is written in the name of a row. */
const TEXTS: { [Member in keyof ClaimRow]?: (value: unknown) => string } = {
  workload: (value) => `${value} workload`,
  traffic: (value) => `traffic ${value}`,
  connections: (value) => `${value} connections`,
  rate: (value) => `${value}/s`,
  points: (value) => `quota of ${value}`,
  cost: (value) => `cost of ${value}`,
  requests: (value) => `${value} requests`,
  operation: (value) => String(value).toUpperCase(),
  payload_bytes: (value) => `${value} bytes`,
};

/** `ioredis@redis+redis-shield, traffic variable`. */
export function rowText(row: ClaimComparison["base"]): string {
  if ("published" in row) return `published ${row.published}`;
  const members = Object.entries(row) as [keyof ClaimRow, unknown][];
  return members.map(([member, value]) => TEXTS[member]?.(value) ?? String(value)).join(", ");
}

/** The full text of a target, with the store that is its default everywhere. @throws usageError where it is none */
function fullTarget(text: string): string {
  const resolution = resolveTarget(text);
  if ("skip" in resolution) throw usageError(`${text}: ${resolution.skip}`);
  return resolution.target.text;
}

/** Hashes of the configurations of a plan that agree with a row. */
export function matchingRows({ configurations }: Pick<Plan, "configurations">, row: ClaimRow): string[] {
  const wanted = { ...row, ...(row.target === undefined ? {} : { target: fullTarget(row.target) }) };
  const members = Object.entries(wanted) as [keyof ClaimRow, unknown][];
  return configurations.flatMap(({ hash, configuration }) =>
    members.every(([member, value]) => MEMBERS[member](configuration) === value) ? [hash] : [],
  );
}

/** The rows of a comparison in a plan, or which one is missing. Bytes per key take rows of several lengths. */
export function rowsOf(
  { where = {}, new: newRow, base, metric }: ClaimComparison,
  plan: Pick<Plan, "configurations" | "skips">,
): { new: string[]; base: string[] } | { missing: string } {
  const isSlope = metric === "bytes_per_key" && "published" in base;
  const found: string[][] = [];
  for (const row of [newRow, ...("published" in base ? [] : [base])]) {
    const hashes = matchingRows(plan, { ...where, ...row });
    if (hashes.length === 0) return { missing: missingText({ ...where, ...row }, row, plan) };
    if (hashes.length > 1 && !isSlope)
      return { missing: `${rowText(row)} is ${hashes.length} rows of its campaign: say which one` };
    found.push(hashes);
  }
  return { new: found[0] ?? [], base: found[1] ?? [] };
}

/** Why the campaign does not have a row: what it skipped. */
function missingText(whole: ClaimRow, named: ClaimRow, { skips }: Pick<Plan, "skips">): string {
  const name = whole.target ?? whole.store;
  const skip = skips.find(
    ({ asked }) => asked === name || (whole.target !== undefined && isSameTarget(asked, whole.target)),
  );
  return skip ? `${skip.asked} was skipped: ${skip.reason}` : `its campaign has no row ${rowText(named)}`;
}

function isSameTarget(asked: string, target: string): boolean {
  try {
    return fullTarget(asked) === fullTarget(target);
  } catch {
    return false;
  }
}
