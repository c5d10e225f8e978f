import { statSync } from "node:fs";
import { join } from "node:path";
import { Argument } from "commander";
import { z } from "zod";
import type { Verdict } from "../../contract/judgement.js";
import { LATEST, RESULTS_ROOT } from "../../contract/report-commands.js";
import { resultSchema } from "../../contract/result.js";
import {
  type JudgedCampaign,
  VERDICTS_FILE,
  VERDICTS_SCHEMA,
  VERDICTS_SCHEMA_VERSION,
  type Verdicts,
} from "../../contract/verdicts.js";
import {
  type ChangedResult,
  groupedChanges,
  judgedCampaign,
  type StoredResult,
} from "../../judge/judged-again.js";
import { RULES_VERSION } from "../../judge/rules.js";
import { definedOnly } from "../../kit/defined-only.js";
import { BenchError, EXIT } from "../../kit/errors.js";
import { parseJson } from "../files/own-files.js";
import { writeAtomically } from "../files/results-folder.js";
import { pythonLines } from "../host/python.js";
import { createCommand } from "../request/command-line.js";
import { parsedCommand } from "./command-types.js";

const AFTER = `
A result keeps the verdict of the rules that held when it was measured. This command judges by the present rules, and
writes what they say otherwise beside the results, to verdicts.json; the results stay as they are. Reports,
comparisons and pages read that file. A DIR without a campaign has packed ones (STAMP.tar.xz) below it.

Examples:
  ratelimit-bench judge
  ratelimit-bench judge results/20260102_030405
  ratelimit-bench judge results                   all packed campaigns below it

Exit codes: 0 done, 2 bad usage or a damaged file, 3 environment not fit, 4 writing failed`;

const definition = () =>
  createCommand("ratelimit-bench judge")
    .description("Judges stored results again by the present rules.")
    .addArgument(
      new Argument(
        "[dir...]",
        `campaigns, or folders of packed ones (default: ${RESULTS_ROOT}/${LATEST})`,
      ),
    )
    .addHelpText("after", AFTER);

/** A line of `report documents`. */
const lineSchema = z.union([
  z.strictObject({
    campaign: z.strictObject({
      archive: z.string().optional(),
      sha256: z.string().optional(),
      folder: z.string(),
    }),
  }),
  z.strictObject({ file: z.string(), place: z.string().nullable(), result: resultSchema }),
]);

type CampaignIdentity = Pick<JudgedCampaign, "archive" | "sha256" | "folder">;

interface CampaignResults extends CampaignIdentity {
  results: StoredResult[];
}

/**
 * The campaigns in a folder with their results, one after the other: all of them together may not
 * fit into memory.
 */
async function* campaignsIn(
  packageFolder: string,
  folder: string,
): AsyncGenerator<CampaignResults> {
  let campaign: CampaignResults | undefined;
  for await (const text of pythonLines(packageFolder, "documents", [folder])) {
    const line = parseJson(text, lineSchema);
    if (line === undefined) throw new BenchError("the report printed no result", EXIT.defect);
    if ("campaign" in line) {
      if (campaign) yield campaign;
      campaign = { ...line.campaign, results: [] };
    } else {
      const { place, ...stored } = line;
      campaign?.results.push({ ...stored, place: place ?? undefined });
    }
  }
  if (campaign) yield campaign;
}

/** How many results went from one verdict to another, by the rules of the later one. */
function transitions(changes: readonly ChangedResult[]): string[] {
  const counts = new Map<string, number>();
  for (const { before, verdict } of changes) {
    if (before === verdict.status) continue;
    const text = `${before} → ${verdict.status}${rulesText(verdict)}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => `${count} ${text}`);
}

function rulesText({ reasons }: Verdict): string {
  const ids = [...new Set(reasons.map(({ rule }) => rule))];
  return ids.length > 0 ? ` (${ids.join(", ")})` : "";
}

export const judge = parsedCommand(
  "judge",
  definition,
  async (command, { packageFolder, print }) => {
    const folders = command.args.length > 0 ? command.args : [`${RESULTS_ROOT}/${LATEST}`];
    for (const folder of folders) {
      const campaigns: JudgedCampaign[] = [];
      for await (const { results, ...campaign } of campaignsIn(packageFolder, folder)) {
        const { notChecked, changes } = judgedCampaign(results);
        const judgedResults = definedOnly({
          judged: results.length,
          not_checked: notChecked.length > 0 ? notChecked : undefined,
          changes: groupedChanges(changes),
        });
        campaigns.push({ ...campaign, ...judgedResults });

        const changed = transitions(changes);
        if (changed.length > 0) print(`${campaign.archive ?? folder}: ${changed.join(", ")}`);
      }
      const path = join(folder, VERDICTS_FILE);
      await writeAtomically(path, verdictsText(campaigns));
      const judged = campaigns.reduce((total, campaign) => total + campaign.judged, 0);
      print(
        `judged ${judged} results by rules ${RULES_VERSION} (${statSync(path).size} bytes in ${path})`,
      );
    }
    return EXIT.done;
  },
);

/** A line a campaign, so that a change of one is a change of one line. */
function verdictsText(campaigns: readonly JudgedCampaign[]): string {
  const { campaigns: _, ...head }: Verdicts = {
    schema: VERDICTS_SCHEMA,
    schema_version: VERDICTS_SCHEMA_VERSION,
    rules_version: RULES_VERSION,
    campaigns: [],
  };
  const lines = campaigns.map((campaign) => JSON.stringify(campaign)).join(",\n");
  return `${JSON.stringify(head).slice(0, -1)},"campaigns":[\n${lines}\n]}\n`;
}
