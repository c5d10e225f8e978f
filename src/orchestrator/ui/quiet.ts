import type { CampaignEvent } from "../../contract/events.js";
import { troubles } from "./last.js";
import { plain } from "./plain.js";
import { Story } from "./story.js";
import type { Outputs, Screen } from "./types.js";

/** Set-up, warnings and what went wrong on standard error, and the report's path on standard output; nothing else. */
export class QuietScreen implements Screen {
  readonly #outputs: Outputs;
  readonly #story = new Story();

  constructor(outputs: Outputs) {
    this.#outputs = outputs;
  }

  show(event: CampaignEvent): void {
    this.#story.add(event);
    const { out, err } = this.#outputs;
    if (event.event === "notice" && event.level !== "info") err.write(`${plain(event.text)}\n`);
    if (event.event === "report") out.write(`${event.path}\n`);
    if (event.event === "ended") for (const line of troubles(this.#story)) err.write(`${line}\n`);
  }

  close(): void {}
}
