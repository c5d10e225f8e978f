import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  CLAIMS_SCHEMA,
  CLAIMS_SCHEMA_VERSION,
  type ClaimComparison,
  type ClaimsRegister,
} from "../../../contract/claims.js";
import { environmentError, messageOf } from "../../../contract/errors.js";
import type { Manifest } from "../../../contract/manifest.js";
import { writeAtomically } from "../../files/results-folder.js";
import type { ExistingCampaign } from "../../request/existing-campaign.js";
import { parseCampaign } from "../../request/parse-request.js";
import {
  campaignRoot,
  differingSettings,
  otherCampaigns,
  reportedCampaign,
  reportFolder,
} from "./measured.js";
import { campaignFile, campaignsOf, type Register } from "./register.js";
import { rowsOf, rowText } from "./rows.js";

/** All claims with the rows that measured them. The report reads it and compares. */
const REGISTER_FILE = "register.json";

/** Writes register.json. @throws environmentError where the folder cannot be written */
export async function writeRegister(
  register: Register,
  folder: string,
  packageFolder: string,
): Promise<void> {
  const document = registerDocument(register, folder, harnessVersion(packageFolder));
  const report = reportFolder(folder);
  try {
    await mkdir(report, { recursive: true });
    await writeAtomically(join(report, REGISTER_FILE), `${JSON.stringify(document, null, 2)}\n`);
  } catch (error) {
    throw environmentError(`${report} cannot be written: ${messageOf(error)}; name another one (--output)`, {
      cause: error,
    });
  }
}

/** @param folder where the campaigns of claims are */
export function registerDocument(register: Register, folder: string, harness: string): ClaimsRegister {
  const measured = new Map(
    campaignsOf(register.claims).map((id) => [id, reportedCampaign(campaignRoot(folder, id))]),
  );
  return {
    schema: CLAIMS_SCHEMA,
    schema_version: CLAIMS_SCHEMA_VERSION,
    harness,
    claims: register.claims.map(({ comparisons = [], ...claim }) => ({
      ...claim,
      comparisons: comparisons.map((comparison) => ({
        ...comparison,
        new_text: rowText(comparison.new),
        base_text: rowText(comparison.base),
        ...foundRows(comparison, measured.get(comparison.campaign)?.manifest),
      })),
    })),
    campaigns: [...measured].map(([id, found]) => {
      if (!found) return { id, differs: [] };
      const place = (each: ExistingCampaign) => `${id}/${basename(each.folder)}`;
      const earlier = otherCampaigns(campaignRoot(folder, id), found).map(place);
      return {
        id,
        folder: place(found),
        ...(earlier.length > 0 ? { earlier } : {}),
        differs: differingSettings(found.manifest, settingsOf(register, id)),
      };
    }),
  };
}

/** The settings of a campaign's file, as a campaign records them. */
function settingsOf(register: Register, campaign: string): Record<string, string> {
  return parseCampaign(["--config", campaignFile(register, campaign)], {})?.settings ?? {};
}

function foundRows(
  comparison: ClaimComparison,
  manifest: Manifest | undefined,
): Pick<ClaimsRegister["claims"][number]["comparisons"][number], "rows" | "missing"> {
  if (!manifest) return {};
  const found = rowsOf(comparison, manifest.plan);
  return "missing" in found ? { missing: found.missing.slice(0, 2_000) } : { rows: found };
}

const harnessVersion = (packageFolder: string): string =>
  (JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as { version: string }).version;
