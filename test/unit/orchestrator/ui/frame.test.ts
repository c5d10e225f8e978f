import { expect, test } from "vitest";
import { Frame } from "../../../../src/orchestrator/ui/frame.js";
import { CapturedOutput } from "../../../helpers/events.js";

test("the frame can be removed and drawn again, as for Ctrl-Z", () => {
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
