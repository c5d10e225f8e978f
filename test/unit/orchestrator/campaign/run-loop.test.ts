import { expect, test } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { CampaignProgress } from "../../../../src/orchestrator/campaign/campaign-progress.js";
import { campaignExitCode } from "../../../../src/orchestrator/campaign/final-report.js";
import { RunLoop } from "../../../../src/orchestrator/campaign/run-loop.js";
import { makePlan } from "../../../../src/orchestrator/plan/make-plan.js";
import type { RunOutcome } from "../../../../src/orchestrator/run/result-documents.js";
import { EventLog } from "../../../../src/orchestrator/ui/event-log.js";
import { configuration } from "../../../helpers/evidence.js";
import { everything, requestOf } from "../../../helpers/request.js";

test("a diagnosing run says how the campaign ended only if it failed, and comes after the last decision", async () => {
  const request = requestOf("--clients", "none", "--concurrency", "8", "--runs", "1", "--diagnose");
  const plan = makePlan(request, everything);
  const seen: string[] = [];
  const endOf = async (status: RunOutcome["status"]) => {
    const eventLog = new EventLog({ show: () => {}, close: () => {} });
    const outcomeOf = ({ file, diagnose }: (typeof plan.runs)[number]): RunOutcome => ({
      file,
      status: diagnose ? status : "valid",
      configuration,
      seconds: 1,
    });
    const loop = new RunLoop({
      plan,
      request,
      eventLog,
      progress: new CampaignProgress(eventLog, plan, {}),
      completed: new Map(plan.runs.map((planned) => [planned.file, outcomeOf(planned)])),
      selection: {
        isNeeded: async ({ file }: { file: string }) => seen.push(file) > 0,
        finished: async () => {},
        end: async () => void seen.push("decided"),
      },
    } as unknown as ConstructorParameters<typeof RunLoop>[0]);
    return campaignExitCode(await loop.runAll(), 0);
  };
  expect(plan.runs).toHaveLength(2);
  expect(await endOf("invalid")).toBe(EXIT.done);
  // It is not asked about: what was decided does not concern it.
  expect(seen.slice(0, 2)).toEqual([plan.runs[0]?.file, "decided"]);
  expect(await endOf("failed")).toBe(EXIT.configurationFailed);
});
