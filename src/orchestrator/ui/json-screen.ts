import type { CampaignEvent } from "../../contract/events.js";
import { CampaignState } from "./campaign-state.js";
import { troubles } from "./final-screen.js";
import { plain, plainJson } from "./text.js";
import type { Detail, Outputs, Screen } from "./types.js";

/** What `--json --quiet` leaves out. */
const DETAILS: readonly string[] = ["second", "phase", "run_started"];

/** Events as lines on standard output; warnings also as text on standard error. */
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
    if (this.#detail === "quiet" && DETAILS.includes(event.event)) return;
    this.#outputs.out.write(`${plainJson(event)}\n`);
    if (event.event === "notice" && event.level === "warning")
      this.#outputs.err.write(`${plain(event.text)}\n`);
    if (event.event === "ended")
      for (const line of troubles(this.#state)) this.#outputs.err.write(`${line}\n`);
  }

  close(): void {}
}
