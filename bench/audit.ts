import { join } from "node:path";
import { versionFolderName, versionsFolder } from "../src/contract/library-versions.js";
import { isDefect } from "../src/orchestrator/audit/audit-counts.js";
import { NEST } from "../src/targets/frameworks.js";
import { type Api, rightApis, wrongApis } from "../test/helpers/apis/apis.js";
import { findingsOf } from "../test/helpers/apis/audited.js";
import { installedFor } from "../test/helpers/on-demand.js";

/**
 * How often an audit by address finds the defect of each wrong API, and what it finds besides. It
 * prints a line for each audit that is not as it should be, and one for each round.
 * `npm run bench:audit -- --times 3`; beside other load:
 * `scripts/ci/under-load.sh 4 npm run bench:audit -- --times 5`
 */
const AT_ONCE = 8;
const times = Number(process.argv[process.argv.indexOf("--times") + 1]) || 1;

interface Tally {
  found: number;
  /** Findings that no defect of the API implies. */
  wrong: number;
  /** Checks that could not be made. */
  undecided: number;
}

const LOADER = join(versionsFolder(process.env), versionFolderName(NEST), "load.mjs");

/** Audits one API, and says so where the result is not what its defect implies. */
async function audited(api: Api): Promise<Tally> {
  const findings = await findingsOf(api, { LOADER });
  const defects = findings.filter(isDefect);
  const isMeant = ({ check, defect }: (typeof findings)[number]) =>
    check === api.check && defect === api.defect;
  const tally = {
    found: defects.filter(isMeant).length,
    wrong: defects.filter((finding) => !isMeant(finding)).length,
    undecided: findings.filter(({ status }) => status === "failed").length,
  };
  if (tally.found !== (api.defect ? 1 : 0) || tally.wrong > 0 || tally.undecided > 0) {
    const texts = findings
      .filter(({ status }) => status === "broken" || status === "failed")
      .map(({ check, defect, reason, seen }) => `${check}: ${defect ?? reason} (${seen ?? ""})`);
    console.log(`  ${api.name}: ${texts.join("; ") || "nothing was found"}`);
  }
  return tally;
}

/** Audits all of them, some at once. */
async function round(): Promise<Tally> {
  const waiting = [...wrongApis, ...rightApis];
  const total: Tally = { found: 0, wrong: 0, undecided: 0 };
  const lane = async (): Promise<void> => {
    for (let api = waiting.shift(); api; api = waiting.shift()) {
      const tally = await audited(api);
      total.found += tally.found;
      total.wrong += tally.wrong;
      total.undecided += tally.undecided;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return total;
}

await installedFor("none+nest");
for (let index = 1; index <= times; index++) {
  const began = performance.now();
  const { found: defectsFound, wrong, undecided } = await round();
  const seconds = Math.round((performance.now() - began) / 1000);
  const counts = [
    `${defectsFound} of ${wrongApis.length} defects found`,
    `${wrong} false findings`,
    `${undecided} checks undecided`,
    `${rightApis.length} right APIs`,
  ];
  console.log(`round ${index}: ${counts.join(", ")}; ${seconds} s`);
}
