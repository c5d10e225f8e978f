import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { basename, join } from "node:path";
import {
  AUDIT_SCHEMA,
  AUDIT_SCHEMA_VERSION,
  type Audit,
  type AuditedTarget,
  type Finding,
} from "../../../contract/audit.js";
import type { Target } from "../../../contract/target.js";
import { definedOnly } from "../../../kit/defined-only.js";
import { EXIT, type ExitCode } from "../../../kit/errors.js";
import { ensurePythonEnvironment } from "../../../runtimes/local/python-environment.js";
import type { CampaignEnd } from "../../campaign/campaign.js";
import type { OpeningContext } from "../../campaign/open-runtime.js";
import {
  createCampaignFolder,
  requireResultsRoot,
  timestamp,
  writeAtomically,
} from "../../files/results-folder.js";
import { removeLeftovers } from "../../host/leftovers.js";
import { harnessVersion } from "../../host/machine.js";
import { abortable } from "../../ownership/abort.js";
import { Lease } from "../../ownership/lease.js";
import type { RequestedOutput } from "../../request/request.js";
import { lineLog } from "../../ui/event-log.js";
import { countsOf, isDefect } from "../audit-counts.js";
import { AUDIT_FILE, AUDITS, makeReport } from "../audit-files.js";
import { findingText } from "../audit-text.js";
import type { ApiCheck } from "./api-check.js";
import { ApiClient } from "./api-client.js";
import { type ApiPlan, apiPlan, apiPlanLines, MOST_AT_ONCE, planOf } from "./api-plan.js";
import { type ApiSettings, pathOf, shownUrl } from "./api-settings.js";
import { AuditedApi } from "./audited-api.js";
import { findQuota } from "./find-quota.js";
import { makeChecks } from "./make-checks.js";
import { Pacer } from "./pacer.js";
import { requireFitApi } from "./preflight.js";
import { DECLARED_ALGORITHMS, type Quota, quotaText } from "./quota.js";
import { StartedApp } from "./started-app.js";

/** What the command line says, and where the results go. */
export interface ApiRequest {
  settings: ApiSettings;
  checks: readonly ApiCheck[];
  output: RequestedOutput;
  /** The command line without credentials, by which the audit can be repeated. */
  command: string;
}

/** Everything that an audit of an API holds while it runs. */
interface OpenedAudit extends OpeningContext {
  request: ApiRequest;
  client: ApiClient;
  pacer: Pacer;
  nonce: string;
}

/**
 * Makes the checks of an API by its address, and writes what they show.
 * @throws usageError where its quota needs too many requests; environmentError where the API does not
 *   answer as one that can be audited
 */
export async function runApiAudit(
  request: ApiRequest,
  context: OpeningContext,
): Promise<Required<CampaignEnd>> {
  const { packageFolder, eventLog, signal } = context;
  const { settings, output } = request;
  // Each request that is on its way listens to it.
  setMaxListeners(0, signal);
  const root = join(output.folder, AUDITS);
  await requireResultsRoot(root);
  for (const line of await removeLeftovers()) eventLog.warn(line);
  await ensurePythonEnvironment(packageFolder, (text) => eventLog.setUp(text), signal);

  const lease = await Lease.open(timestamp(new Date()));
  const nonce = randomBytes(4).toString("hex");
  const client = new ApiClient({
    ca: settings.ca,
    ownHeaders: ownHeaders(harnessVersion(packageFolder), nonce),
    body: settings.body,
    signal,
  });
  const pacer = new Pacer({ ...settings, atOnce: MOST_AT_ONCE });
  const holdProcess = (pid: number) => lease.holdProcess(pid);
  let app: StartedApp | undefined;
  try {
    const log = (line: string) => eventLog.detail(`app: ${line}`);
    app = settings.app && (await StartedApp.start(settings.app, { signal, holdProcess, log }));
    const reached = app ? { ...request, settings: settingsAt(settings, app.origins) } : request;
    const opened = { ...context, request: reached, client, pacer, nonce };
    const { api, plan } = await openApi(opened);
    const folder = await abortable(signal, createCampaignFolder(root, new Date()));
    await lease.update({ folder });
    const document = await auditApi(opened, api, plan, folder);
    await makeReport({ packageFolder, signal, holdProcess }, folder, eventLog, output.junit);
    return { exitCode: exitCodeOf(document), folder };
  } finally {
    client.close();
    await app?.stop();
    await lease.close();
  }
}

/** The settings for an app that was started at these origins. */
function settingsAt(settings: ApiSettings, origins: readonly string[]): ApiSettings {
  const [url, ...instances] = origins.map((origin) => new URL(pathOf(settings.url), origin));
  return { ...settings, url: url ?? settings.url, instances };
}

/** The headers that tell the API's owner who asks, and in which run. */
const ownHeaders = (version: string, nonce: string): Record<string, string> => ({
  "user-agent": `ratelimit-bench/${version}`,
  "x-ratelimit-bench": `audit ${nonce}`,
});

/**
 * The exit code of an audit of an API. A promise that does not hold comes first: it was seen, whatever
 * could not be tried beside it.
 */
function exitCodeOf({ counts }: Audit): ExitCode {
  if (counts.broken > 0) return EXIT.regression;
  return counts.failed > 0 ? EXIT.configurationFailed : EXIT.done;
}

/** What an API is taken to have until its quota is found. Nothing is judged by it. */
const UNKNOWN_QUOTA: Quota = { points: 1, window_s: 1 };

/**
 * Shows the plan, and sees whether the API can be audited.
 * @throws usageError; environmentError
 */
async function openApi(opened: OpenedAudit): Promise<{ api: AuditedApi; plan: ApiPlan }> {
  const { request, eventLog, client, pacer, nonce, signal } = opened;
  const { settings, checks } = request;
  const place = { client, pacer, signal, nonce };
  const planOfKnownQuota = planOf(settings, checks);
  for (const line of apiPlanLines(settings, planOfKnownQuota)) eventLog.info(line);
  const api = new AuditedApi(settings, settings.quota ?? UNKNOWN_QUOTA, place);
  await requireFitApi(api);
  if (planOfKnownQuota) return { api, plan: planOfKnownQuota };

  api.quota = await findQuota(api);
  eventLog.info(`found a quota of ${quotaText(api.quota)}, confirmed by a second key`);
  const plan = apiPlan(settings, api.quota, checks);
  for (const line of apiPlanLines(settings, plan)) eventLog.info(line);
  return { api, plan };
}

async function auditApi(
  opened: OpenedAudit,
  api: AuditedApi,
  plan: ApiPlan,
  folder: string,
): Promise<Audit> {
  const { request, eventLog, pacer } = opened;
  const startedAt = new Date().toISOString();
  const began = performance.now();
  const append = lineLog(join(folder, "audit.log"), (text) => eventLog.warn(text));
  const findings = await makeChecks(api, plan, request.checks, {
    check: ({ title }) => eventLog.detail(`  ${title}`),
    finding: (finding) => {
      const text = findingText(finding);
      append(`${new Date().toISOString()} ${text}`);
      if (isDefect(finding) || finding.status === "failed") eventLog.info(`  ${text}`);
      else eventLog.detail(`  ${text}`);
    },
  });

  const seconds = Math.round((performance.now() - began) / 100) / 10;
  const target = auditedTarget(api, findings, { requests: pacer.sent, seconds });
  const document = documentOf(opened, target, { folder, startedAt });
  await writeAtomically(join(folder, AUDIT_FILE), `${JSON.stringify(document, null, 1)}\n`);
  return document;
}

/** An API as a target: nothing but its address and its declared algorithm is known. */
function targetOf({ settings: { url, algorithm } }: AuditedApi): Target {
  const text = shownUrl(url).slice(0, 200);
  return definedOnly({
    text,
    label: text,
    client: "http",
    store: "unknown",
    topology: "unknown",
    limiter: "unknown",
    options: [],
    decided_by: "service" as const,
    algorithm: algorithm === "unknown" ? undefined : DECLARED_ALGORITHMS[algorithm][0],
  });
}

function auditedTarget(
  api: AuditedApi,
  findings: Finding[],
  { requests, seconds }: { requests: number; seconds: number },
): AuditedTarget {
  const { settings, quota } = api;
  return {
    target: targetOf(api),
    api: {
      url: shownUrl(settings.url),
      instances: settings.instances.map(shownUrl),
      method: settings.method,
      key: settings.carrier.text,
      denied_status: api.deniedStatus,
      declared_algorithm: settings.algorithm,
      quota: definedOnly({ ...quota, burst: settings.burst, found: settings.quota === undefined }),
      requests,
    },
    findings,
    seconds,
  };
}

function documentOf(
  { request: { checks, command }, packageFolder }: OpenedAudit,
  target: AuditedTarget,
  { folder, startedAt }: { folder: string; startedAt: string },
): Audit {
  return {
    schema: AUDIT_SCHEMA,
    schema_version: AUDIT_SCHEMA_VERSION,
    audit: basename(folder),
    started_at: startedAt,
    finished_at: new Date().toISOString(),
    command,
    runtime: "url",
    harness: harnessVersion(packageFolder),
    node: process.versions.node,
    programs: {},
    checks: checks.map(({ id, title, promise, matters }) => ({ id, title, promise, matters })),
    targets: [target],
    skips: [],
    counts: countsOf([target]),
  };
}
