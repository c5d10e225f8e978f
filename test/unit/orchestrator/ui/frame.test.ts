import { describe, expect, test } from "vitest";
import { Frame } from "../../../../src/orchestrator/ui/frame.js";
import { CapturedOutput } from "../../../helpers/events.js";

describe("the frame", () => {
  test("can be removed and drawn again, as for Ctrl-Z", () => {
    const out = new CapturedOutput(true);
    const frame = new Frame(out);
    for (let round = 0; round < 2; round++) {
      frame.draw(["one", "two"]);
      frame.remove();
    }
    expect(out.text.split("\x1b[?25l")).toHaveLength(3);
    expect(out.text.split("\x1b[?25h")).toHaveLength(3);
    expect(out.text.endsWith("\x1b[?25h")).toBe(true);
  });

  test("keeps the cursor at its start, so that a resize cannot lose it", () => {
    const out = new CapturedOutput(true);
    new Frame(out).draw(["one", "two", "three"]);
    expect(out.text.endsWith("\x1b[2A\r")).toBe(true);
  });
});
