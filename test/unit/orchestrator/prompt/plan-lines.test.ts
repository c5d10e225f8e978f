import { expect, test } from "vitest";
import { planLines } from "../../../../src/orchestrator/prompt/plan-lines.js";
import { planFor } from "../../../helpers/request.js";

const preview = (notices: string[]) => ({
  runtime: { id: "local", choice: "as asked" },
  plan: planFor("--clients", "iovalkey,none", "--runs", "7"),
  estimate: { runs: 14, seconds: 300, disk_bytes: 1e6 },
  notices,
  undecidable: [],
  order_cost: [],
});

const WARNING = "warning: load: 3.28 – other programs are running and would distort the figures";

test("a plan page begins its notes with the warnings, and leaves whole notes out", () => {
  const notices = Array.from({ length: 9 }, (_, index) => `${index} ${"word ".repeat(20)}end`);
  for (const room of [11, 13, 16, 20]) {
    const lines = planLines(preview(notices), [WARNING], { columns: 76, room });
    expect(lines.length).toBeLessThanOrEqual(room);
    const text = lines.map((line) => line.trim()).join(" ");
    expect(text).toContain(WARNING);
    const shown = notices.filter((notice) => text.includes(`note: ${notice.slice(0, 9)}`));
    for (const notice of shown) expect(text).toContain(notice);
    expect(text).toMatch(/… \d+ more notes/);
  }
});
