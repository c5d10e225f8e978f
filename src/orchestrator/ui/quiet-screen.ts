import type { CampaignEvent } from "../../contract/events.js";
import { CampaignState } from "./campaign-state.js";
import { problemLines } from "./final-screen.js";
import { escapeControls } from "./text.js";
import type { Outputs, Screen } from "./types.js";

/** Shows set-up, warnings and problems on standard error, and the report's path on standard output. */
export class QuietScreen implements Screen {
  readonly #outputs: Outputs;
  readonly #state = new CampaignState();

  constructor(outputs: Outputs) {
    this.#outputs = outputs;
  }

  show(event: CampaignEvent): void {
    this.#state.add(event);
    const { out, err } = this.#outputs;
    if (event.event === "notice" && event.level !== "info") err.write(`${escapeControls(event.text)}\n`);
    if (event.event === "report") out.write(`${event.path}\n`);
    if (event.event === "ended") for (const line of problemLines(this.#state)) err.write(`${line}\n`);
  }

  close(): void {}
}
