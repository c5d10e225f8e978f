import type { CampaignEvent } from "../../contract/events.js";
import { adaptiveLines, campaignText, finishedText, lookText, runText } from "./event-text.js";
import { plain, plainLines } from "./plain.js";
import { durationText } from "./text.js";

/** What benchmark.log keeps of an event. Live figures are not kept: the result has them, better. */
export function logLines(event: CampaignEvent): string[] {
  switch (event.event) {
    case "opened":
    case "second":
      return [];
    case "report":
      return event.adaptive ? adaptiveLines(event.adaptive).map(plain) : [];
    case "look":
      return [plain(lookText(event))];
    case "notice":
      return [plain(event.text)];
    case "detail":
      // The lines of a run's programs have a log of their own.
      return event.role ? [] : [plainLines(event.text)];
    case "campaign":
      return [plain(campaignText(event, durationText(event.estimate_s)))];
    case "run_kept":
      return [`[${event.number}/${event.of}] ${plain(event.file)} is kept`];
    case "run_started":
      return [plain(`[${event.number}/${event.of}] ${runText(event)}`)];
    case "phase":
      return [event.phase === "report" ? "building the report" : `  ${event.phase}`];
    case "run_finished":
      return [plain(`  ${finishedText(event)}`)];
    case "ended":
      return [plain(`ended with ${event.exit_code}${event.reason ? `: ${event.reason}` : ""}`)];
  }
}
