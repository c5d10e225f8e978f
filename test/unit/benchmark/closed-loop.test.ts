import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type ClosedConnections, ClosedLoop } from "../../../src/benchmark/closed-loop.js";
import type { WindowListener } from "../../../src/benchmark/load-loop.js";
import { cheapMonotonicMs } from "../../../src/benchmark/measurement/clock.js";
import type { ResponseRecorder, WorkerSample } from "../../../src/benchmark/measurement/recorder.js";

/** Connections that do what the test says, with the times at which the gate was opened and shut. */
class StubConnections implements ClosedConnections {
  readonly events: string[] = [];
  opened_ms = 0;
  recorder: ResponseRecorder | undefined;
  follow: (recorder: ResponseRecorder) => void = () => {};
  followed = 0;

  connected = async () => undefined;
  stop = async () => undefined;

  openGate(recorder: ResponseRecorder): void {
    this.opened_ms = cheapMonotonicMs();
    this.events.push("gate opened");
    this.recorder = recorder;
    recorder.answer("allowed", 200, 1, this.opened_ms);
  }

  shutGate() {
    this.events.push("gate shut");
    this.recorder?.close();
    return 1 + this.followed;
  }

  changeRecorder(recorder: ResponseRecorder): number {
    this.events.push("recorder changed");
    this.recorder = recorder;
    recorder.answer("allowed", 200, 1, cheapMonotonicMs());
    return 7;
  }

  async drained(): Promise<void> {
    if (this.recorder) this.follow(this.recorder);
    this.events.push("drained");
  }

  quotaDone = async () => undefined;
}

function listenerOf(events: string[] = []): WindowListener & { samples: WorkerSample[] } {
  const samples: WorkerSample[] = [];
  return {
    samples,
    opened: () => void events.push("opened"),
    sample: (sample) => void samples.push(sample),
    closed: () => void events.push("closed"),
  };
}

const loopOver = (connections: ClosedConnections) => new ClosedLoop(connections, String);

test("the window of a closed loop opens when all windows open, not when the command comes", async () => {
  const workers = [new StubConnections(), new StubConnections()];
  const commanded_ms = cheapMonotonicMs();
  const opens_ms = commanded_ms + 150;
  const windows = await Promise.all(
    workers.map(async (connections, index) => {
      await sleep(30 * index);
      return loopOver(connections).measure(
        { extent: { duration_s: 0.2 }, opens_ms, lead_in_ms: 0 },
        listenerOf(),
      );
    }),
  );
  // Slices count from the opening.
  expect(windows.map(({ slices }) => slices.allowed)).toEqual([
    [1, 0],
    [1, 0],
  ]);
  const opened = windows.map(({ opened_ms }) => opened_ms);
  expect(Math.min(...opened)).toBeGreaterThanOrEqual(opens_ms);
  workers.forEach((worker, index) => {
    expect(worker.opened_ms).toBeGreaterThanOrEqual(opened[index] ?? Number.NaN);
  });
});
