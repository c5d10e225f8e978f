import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const isCheckout = existsSync(fileURLToPath(new URL("../../../scripts/run-all.sh", import.meta.url)));

/** How a campaign is called: by the script of a checkout, or by the command of a package, which has no such script. */
export const CAMPAIGN_COMMAND = isCheckout ? "./scripts/run-all.sh" : "ratelimit-bench run";
/** How a report is built again, likewise. */
export const REPORT_COMMAND = isCheckout ? "./scripts/generate_report.py" : "ratelimit-bench report";
/** A campaign in help texts. */
export const CAMPAIGN_NAME = isCheckout ? "run-all.sh" : CAMPAIGN_COMMAND;

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[\w@:+.,/=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
