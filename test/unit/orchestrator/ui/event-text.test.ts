import { expect, test } from "vitest";
import type { Configuration } from "../../../../src/contract/configuration.js";
import { CampaignState } from "../../../../src/orchestrator/ui/campaign-state.js";
import { finishedText } from "../../../../src/orchestrator/ui/event-text.js";
import { EventFixture } from "../../../helpers/events.js";

const finished = new EventFixture().finished(1, {
  figures: { requests_per_second: 5000, server_cpu_us_per_request: 48 },
});

test("a CPU figure of a closed loop is that at full load, one of an open loop is not (M35)", () => {
  const state = new CampaignState();
  const textAt = (load: Configuration["load"]) =>
    finishedText(finished, { layer: "server", load }, state);
  expect(textAt({ model: "closed", connections: 50 })).toContain(
    "48 µs CPU per request at full load",
  );
  const atRate = textAt({
    model: "open",
    rate_per_second: 500,
    arrivals: "constant",
    connections: 50,
  });
  expect(atRate).toContain("48 µs CPU per request");
  expect(atRate).not.toContain("full load");
});

test("the mean stands beside the percentiles in an open loop alone", () => {
  const state = new CampaignState();
  const open: Configuration["load"] = {
    model: "open",
    rate_per_second: 500,
    arrivals: "constant",
    connections: 50,
  };
  const textAt = (load: Configuration["load"], latencies: object) => {
    const figures = { requests_per_second: 500, ...latencies };
    return finishedText(
      new EventFixture().finished(1, { figures }),
      { layer: "server", load },
      state,
    );
  };
  const known = { mean_ms: 2.1, p50_ms: 1.5, p99_ms: 12.25 };
  expect(textAt(open, known)).toContain("mean 2.10 ms, p50 1.50 ms, p99 12.25 ms");
  expect(textAt(open, { mean_at_least_ms: 3 })).toContain("mean > 3.00 ms");
  expect(textAt({ model: "closed", connections: 50 }, known)).not.toContain("mean");
});
