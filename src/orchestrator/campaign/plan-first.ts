import { abortable, pause } from "../ownership/abort.js";
import type { Request } from "../request/request.js";
import type { EventLog } from "../ui/event-log.js";
import { isCi } from "../ui/open-screen.js";
import { previewCampaign, previewLines } from "./dry-run.js";

const SECONDS_TO_STOP = 5;

/** Whether a person could stop the campaign now. */
const isAttended = (): boolean =>
  (process.stdin.isTTY === true || process.stdout.isTTY === true) && !isCi(process.env);

/**
 * Shows the plan and its time before anything starts, and leaves a person time to stop it.
 * @throws Aborted; BenchError as the campaign would before its first run
 */
export async function showPlanFirst(
  request: Request,
  { packageFolder, eventLog, signal }: { packageFolder: string; eventLog: EventLog; signal: AbortSignal },
): Promise<void> {
  const { format, detail } = request.outputMode;
  if (format === "json" || detail === "quiet") return;
  const preview = await abortable(signal, previewCampaign(request, packageFolder));
  for (const line of previewLines(preview)) eventLog.info(line);
  // The campaign itself says why it cannot start.
  if (preview.refusal !== undefined || !isAttended()) return;
  eventLog.info(`starts in ${SECONDS_TO_STOP} s; Ctrl-C stops it`);
  await pause(signal, SECONDS_TO_STOP);
}
