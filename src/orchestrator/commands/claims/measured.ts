import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "../../../contract/manifest.js";
import { readCompletedRuns } from "../../campaign/completed-runs.js";
import { Checksums } from "../../files/checksums.js";
import { PACKED, unpackBeside } from "../../host/python.js";
import { requestedRuns } from "../../plan/decision-rounds.js";
import { type ExistingCampaign, findCampaign } from "../../request/existing-campaign.js";

/** Settings that say where a campaign runs and what came by chance. They do not make it another measurement. */
const OF_THE_RUN = ["seed"];

const STAMP = /^\d{8}_\d{6}$/;

/** The campaigns in a folder, the newest first. A folder without a readable manifest is none. */
export function campaignsIn(root: string): ExistingCampaign[] {
  return stampsIn(root).flatMap((name) => {
    try {
      return [findCampaign(root, name)];
    } catch {
      return [];
    }
  });
}

const stampsIn = (root: string): string[] =>
  namesIn(root)
    .filter((name) => STAMP.test(name))
    .reverse();

/** Sorted; none where there is no such folder. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** Whether a campaign was measured with these settings. A setting that one of them does not know says nothing. */
export function hasSettings(
  { settings: recorded = {} }: Manifest,
  settings: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(settings).every(
    ([key, value]) => OF_THE_RUN.includes(key) || recorded[key] === undefined || recorded[key] === value,
  );
}

/**
 * Unpacks the campaigns that are there packed alone, as a checkout has them.
 * @throws environmentError that names an archive
 */
export async function unpackCampaigns(claimsFolder: string): Promise<void> {
  for (const campaign of namesIn(claimsFolder))
    for (const name of namesIn(join(claimsFolder, campaign))) {
      const archive = join(claimsFolder, campaign, name);
      if (name.endsWith(PACKED) && !existsSync(archive.slice(0, -PACKED.length))) await unpackBeside(archive);
    }
}

/** How many of the runs that count are missing. */
export async function missingRuns({ folder, manifest }: ExistingCampaign): Promise<number> {
  return (await readCompletedRuns(folder, manifest, await Checksums.read(folder))).missing;
}

/** The campaign that is reported: the newest that is finished, else the newest with a planned run on disk. */
export function reportedCampaign(root: string): ExistingCampaign | undefined {
  const campaigns = campaignsIn(root);
  return (
    campaigns.find(({ manifest }) => manifest.status === "finished") ??
    campaigns.find(({ folder, manifest }) => {
      const files = readdirSync(folder);
      return requestedRuns(manifest).some(({ file }) => files.includes(file));
    })
  );
}

/** Finished campaigns beside the one that is reported, the newest first: their ratios are held against its own. */
export const otherCampaigns = (root: string, reported: ExistingCampaign): ExistingCampaign[] =>
  campaignsIn(root).filter(
    ({ folder, manifest }) => manifest.status === "finished" && folder !== reported.folder,
  );

/** The settings in which a campaign differs from those of its file: `runs 5 instead of 10`. */
export function differingSettings(
  { settings: recorded = {} }: Manifest,
  settings: Readonly<Record<string, string>>,
): string[] {
  return Object.entries(settings).flatMap(([key, value]) => {
    const found = recorded[key];
    if (OF_THE_RUN.includes(key) || found === undefined || found === value) return [];
    return [`${key} ${found} instead of ${value}`];
  });
}

/** The folder of the page and its files, beside those of the campaigns. */
export const reportFolder = (claimsFolder: string): string => join(claimsFolder, "report");

/** The folder of a campaign's measurements. */
export const campaignRoot = (claimsFolder: string, campaign: string): string => join(claimsFolder, campaign);
