import { setMaxListeners } from "node:events";
import { Command } from "commander";
import type { Finding } from "../../../src/contract/audit.js";
import type { ApiCheck } from "../../../src/orchestrator/audit/api/api-check.js";
import { ApiClient } from "../../../src/orchestrator/audit/api/api-client.js";
import { apiPlan, MOST_AT_ONCE } from "../../../src/orchestrator/audit/api/api-plan.js";
import { AuditedApi } from "../../../src/orchestrator/audit/api/audited-api.js";
import { apiChecks } from "../../../src/orchestrator/audit/api/checks/index.js";
import { makeChecks } from "../../../src/orchestrator/audit/api/make-checks.js";
import { Pacer } from "../../../src/orchestrator/audit/api/pacer.js";
import { requireFitApi } from "../../../src/orchestrator/audit/api/preflight.js";
import { addApiFlags, apiSettingsOf } from "../../../src/orchestrator/commands/audit-url-flags.js";
import { type Api, KEY_FLAG } from "./apis.js";
import { type QuotaOfApi, RunningApi } from "./running-api.js";

/** Windows are short, but where a store is away in one. */
const QUOTA: QuotaOfApi = { quota: 5, window_s: 2 };
const QUOTA_OF_OUTAGES: QuotaOfApi = { quota: 5, window_s: 10 };
/** With its long windows, an API that loses its store is tried by what that takes. */
const CHECKS_OF_OUTAGES = ["active", "outage"];

/**
 * The checks that are made of an API. A wrong one gets those that all others rely on, and the one
 * that must find its defect. Where the first checks find it, all are made: they may find nothing
 * more.
 */
function checksOf({ outage, check: finder }: Api): ApiCheck[] {
  if (outage) return apiChecks.filter(({ id }) => CHECKS_OF_OUTAGES.includes(id));
  const isFoundLater = apiChecks.some(({ id, isFirst }) => id === finder && !isFirst);
  if (!isFoundLater) return [...apiChecks];
  return apiChecks.filter(({ id, isFirst }) => isFirst || id === finder);
}

/**
 * What an audit by its address finds in an API, which is started for it.
 * @param environment what its program is told in addition
 */
export async function findingsOf(
  api: Api,
  environment: Readonly<Record<string, string>> = {},
): Promise<Finding[]> {
  const quota = api.outage ? QUOTA_OF_OUTAGES : QUOTA;
  const running = await RunningApi.start(api, quota, environment);
  const { signal } = new AbortController();
  // Each request that is on its way listens to it.
  setMaxListeners(0, signal);
  const client = new ApiClient({ ownHeaders: {}, body: undefined, signal });
  try {
    const settings = settingsOf(api, running, quota);
    const points = { points: quota.quota, window_s: quota.window_s };
    const pacer = new Pacer({ ...settings, atOnce: MOST_AT_ONCE });
    const place = { client, pacer, signal, nonce: "0123abcd" };
    const audited = new AuditedApi(settings, points, place);
    await requireFitApi(audited);
    const checks = checksOf(api);
    const listener = { check: () => {}, finding: () => {} };
    return await makeChecks(audited, apiPlan(settings, points, checks), checks, listener);
  } finally {
    client.close();
    await running.stop();
  }
}

/** The settings of the flags that a user would give. */
function settingsOf(api: Api, { urls, outages }: RunningApi, { quota, window_s }: QuotaOfApi) {
  const [url = "", ...instances] = urls;
  const outage = api.outage && outages?.[api.outage];
  const words = ["--url", url, "--quota", `${quota}/${window_s}s`, "--key", KEY_FLAG];
  for (const instance of instances) words.push("--instance", instance);
  if (outage) words.push("--break", outage.break, "--mend", outage.mend);
  words.push(...(api.flags ?? ["--algorithm", "fixed-window"]));

  const command = addApiFlags(new Command()).parse(words, { from: "user" });
  return apiSettingsOf(command, url);
}
