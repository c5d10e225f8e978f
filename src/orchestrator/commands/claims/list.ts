import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ClaimVerdicts, claimVerdictsSchema } from "../../../contract/claims.js";
import { parseJson } from "../../files/json.js";
import { textTable } from "../../ui/text.js";
import { reportFolder } from "./measured.js";
import type { RegisteredClaim } from "./register.js";

const VERDICTS_FILE = "verdicts.json";

/** The verdicts of the last report; undefined before the first one. */
function verdictsOf(folder: string): ClaimVerdicts["claims"] | undefined {
  try {
    const text = readFileSync(join(reportFolder(folder), VERDICTS_FILE), "utf8");
    return parseJson(text, claimVerdictsSchema)?.claims;
  } catch {
    return undefined;
  }
}

/** `ratelimit_bench, 2025-04-16`. */
const sourceText = ({ source: { project, date } }: RegisteredClaim): string =>
  [project, date].filter(Boolean).join(", ");

/** What is known without a report: a claim that no campaign measures can never be told. */
const withoutReport = ({ comparisons = [] }: RegisteredClaim) =>
  comparisons.length === 0 ? "cannot be told here" : "not measured yet";

/**
 * Claims with their verdicts, one line each, or as JSON.
 * @param folders of what was measured; the first with a report counts
 */
export function claimList(
  claims: readonly RegisteredClaim[],
  folders: readonly string[],
  format: "table" | "json",
): string {
  const verdicts = folders.map(verdictsOf).find((found) => found !== undefined) ?? [];
  const rows = claims.map((claim) => ({
    id: claim.id,
    verdict: verdicts.find(({ id }) => id === claim.id)?.verdict ?? withoutReport(claim),
    title: claim.title,
    source: sourceText(claim),
  }));
  if (format === "json") return JSON.stringify({ claims: rows }, null, 2);
  return textTable([
    ["claim", "verdict", "what is claimed", "source"],
    ...rows.map(({ id, verdict, title, source }) => [id, verdict, title, source]),
  ]).join("\n");
}
