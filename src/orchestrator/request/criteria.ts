import { createHash } from "node:crypto";
import { z } from "zod";
import { namedRowSchema, type RegisteredCriterion } from "../../contract/manifest.js";

const boundsSchema = z.tuple([z.number().nullable(), z.number().nullable()]);
type Bounds = z.infer<typeof boundsSchema>;

/** A comparison of a claim. Without a range it is a question, which has no criterion. */
const comparisonSchema = z.looseObject({
  metric: z.string(),
  of: namedRowSchema,
  against: namedRowSchema,
  ratio: boundsSchema.optional(),
  refuted: boundsSchema.optional(),
  attainable: boundsSchema.optional(),
});

const claimsSchema = z.array(
  z.looseObject({ id: z.string(), expects: z.array(comparisonSchema).optional() }),
);

/**
 * The criteria of a campaign file's claims, each with the hash of its ranges alone.
 * `report/claims/criterion.py` computes the same hash, and tells by it whether a criterion is older
 * than its campaign.
 * @throws Error that names the first member that is no claim
 */
export function criteriaOf(claims: unknown): RegisteredCriterion[] {
  const parsed = claimsSchema.safeParse(claims);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${["claims", ...(issue?.path ?? [])].join(".")}: ${issue?.message}`);
  }
  return parsed.data.flatMap(({ id, expects = [] }) =>
    expects.flatMap(({ metric, of, against, ratio, refuted, attainable }) => {
      if (!ratio) return [];
      const sha256 = hashOf(ratio, refuted, attainable);
      return [{ claim: id, metric, of, against, sha256 }];
    }),
  );
}

function hashOf(ratio: Bounds, refuted?: Bounds, attainable?: Bounds): string {
  const ranges = { attainable: attainable ?? null, ratio, refuted: refuted ?? null };
  return createHash("sha256").update(JSON.stringify(ranges)).digest("hex");
}
