import { type Answered, admittedOf, answersText } from "./api-answers.js";
import type { Connection } from "./api-client.js";
import type { AuditedApi, RequestOptions } from "./audited-api.js";
import type { RequestParts } from "./key-carrier.js";

/** A way to send a request that should count for the same quota. */
export interface Variant {
  /** What differs, e.g. `a trailing slash`. */
  what: string;
  /** @param number the number of the request, so that each can differ from the one before */
  options(number: number): RequestOptions;
}

export const changed = (change: (parts: RequestParts) => RequestParts): RequestOptions => ({
  change,
});

/** Requests of a variant. More would tell nothing but the size of the quota that it renews. */
const PROBES = 4;
const MOST_TRIES = 3;

/** What becomes of a used-up quota under a variant. */
export interface Renewal {
  variant: Variant;
  fate: "still denied" | "renewed" | "no such request" | "undecided";
  probes: readonly Answered[];
}

/**
 * Whether so many admissions are more than came back meanwhile. Between two denials of the plain
 * request a bucket can get a point, and one more where they round.
 */
function isMoreThanRefilled(
  api: AuditedApi,
  probes: readonly Answered[],
  from_ms: number,
): boolean {
  const admitted = admittedOf(probes);
  if (admitted === 0) return false;
  if (!api.mayRefill) return true;
  const to_ms = Math.max(...probes.map(({ answered_ms }) => answered_ms));
  return admitted >= Math.min(api.limits.points, api.refilledIn(to_ms - from_ms) + 2);
}

/** Sends requests of a variant on a used-up key, and then the plain one, which must be denied still. */
async function tryVariant(
  api: AuditedApi,
  key: string,
  connection: Connection,
  variant: Variant,
): Promise<Renewal> {
  const before = await api.send(key, { connection });
  const probes: Answered[] = [];
  for (let number = 1; number <= PROBES; number++)
    probes.push(await api.send(key, { connection, ...variant.options(number) }));
  const after = await api.send(key, { connection });

  const decided = probes.filter(({ fate }) => fate === "admitted" || fate === "denied");
  if (decided.length === 0) return { variant, probes, fate: "no such request" };
  if (before.fate !== "denied" || after.fate !== "denied")
    return { variant, probes, fate: admittedOf(probes) === 0 ? "still denied" : "undecided" };
  const isRenewed = isMoreThanRefilled(api, probes, before.sent_ms);
  return { variant, probes, fate: isRenewed ? "renewed" : "still denied" };
}

/**
 * What each variant does to a used-up quota. One that seems to renew it must do so on another fresh
 * key, too.
 */
export async function renewals(api: AuditedApi, variants: readonly Variant[]): Promise<Renewal[]> {
  const firsts = await renewalsOnFreshKeys(api, variants);
  const suspected = firsts.filter(({ fate }) => fate === "renewed").map(({ variant }) => variant);
  if (suspected.length === 0) return firsts;
  const seconds = await renewalsOnFreshKeys(api, suspected);
  return firsts.map((first) => seconds.find(({ variant }) => variant === first.variant) ?? first);
}

/** Tries variants on a used-up key, and those whose answers decide nothing on another one. */
async function renewalsOnFreshKeys(
  api: AuditedApi,
  variants: readonly Variant[],
): Promise<Renewal[]> {
  const renewals = new Map<Variant, Renewal>();
  let left = variants;
  for (let tries = 1; left.length > 0 && tries <= MOST_TRIES; tries++) {
    const key = await api.freshKey();
    const connection = api.connect();
    try {
      await api.useUp(key, { connection });
      for (const variant of left)
        renewals.set(variant, await tryVariant(api, key, connection, variant));
    } finally {
      connection.close();
    }
    left = left.filter((variant) => renewals.get(variant)?.fate === "undecided");
  }
  return variants.flatMap((variant) => renewals.get(variant) ?? []);
}

/** The requests that `renewals` of so many variants sends at most when nothing is suspected. */
export const renewalRequests = (points: number, variants: number): number =>
  points + 1 + variants * (PROBES + 2);

export const renewalText = ({ variant, probes }: Renewal): string =>
  `${variant.what}: ${answersText(probes)}`;
