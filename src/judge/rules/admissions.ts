import { type Evidence, type Finding, notApplicable, type Rule } from "../evidence.js";

/** The store counted each key as often as consumed (M27); `boundary` traffic judges the target (M24). */
export const admissionsConserved: Rule = {
  id: "M27",
  check({ admissions, store, boundary }: Evidence): Finding | undefined {
    // A generator that was started by hand cannot read the store.
    if (!admissions) return undefined;
    if (admissions.status === "not known") return boundary ? undefined : notApplicable(admissions.reason);
    const { keys, below, above, worst } = admissions;
    if (!worst) return undefined;
    const { least, most, counted } = worst;
    const sent = most > least ? `${least} to ${most}` : most;
    const text = `the store miscounted ${below + above} of ${keys} keys, most of all ${worst.key}: ${sent} points were consumed, ${counted} are counted`;
    // Others may use an external store, so a surplus proves nothing.
    return { severity: store?.external && below === 0 ? "suspect" : "invalid", text };
  },
};
