import type { CampaignEvent } from "../../contract/events.js";
import { CampaignState } from "./campaign-state.js";
import { problemLines } from "./final-screen.js";
import { escapeControls, escapedJson } from "./text.js";
import type { Detail, Outputs, Screen } from "./types.js";

const QUIET_EVENTS: readonly string[] = ["second", "phase", "run_started"];

/** Writes events as JSON lines to standard output, and warnings also as text to standard error. */
export class JsonScreen implements Screen {
  readonly #outputs: Outputs;
  readonly #detail: Detail;
  readonly #state = new CampaignState();

  constructor(outputs: Outputs, detail: Detail) {
    this.#outputs = outputs;
    this.#detail = detail;
  }

  show(event: CampaignEvent): void {
    this.#state.add(event);
    if (event.event === "detail" && this.#detail !== "verbose") return;
    if (this.#detail === "quiet" && QUIET_EVENTS.includes(event.event)) return;
    this.#outputs.out.write(`${escapedJson(event)}\n`);
    if (event.event === "notice" && event.level === "warning")
      this.#outputs.err.write(`${escapeControls(event.text)}\n`);
    if (event.event === "ended")
      for (const line of problemLines(this.#state)) this.#outputs.err.write(`${line}\n`);
  }

  close(): void {}
}
