import type { SentRequest } from "../../contract/sender.js";
import type { Burst } from "./expected.js";

/** A check cannot say anything: something else failed than what it looks at. */
export class NotChecked extends Error {
  override readonly name = "NotChecked";
}

/** What became of requests that were sent together. */
export class Answers {
  readonly all: readonly SentRequest[];

  constructor(all: readonly SentRequest[]) {
    this.all = all;
  }

  ofGroup(group: number): Answers {
    return new Answers(this.all.filter((each) => each.group === group));
  }

  with(others: Answers): Answers {
    return new Answers([...this.all, ...others.all]);
  }

  get admitted(): number {
    return this.all.filter(({ status }) => status === 200).length;
  }

  get limited(): readonly SentRequest[] {
    return this.all.filter(({ status }) => status === 429);
  }

  /** Neither admitted nor denied. */
  get failed(): readonly SentRequest[] {
    return this.all.filter(({ status }) => status !== 200 && status !== 429);
  }

  get burst(): Burst {
    return {
      from_ms: Math.min(...this.all.map(({ sent_ms }) => sent_ms)),
      to_ms: Math.max(...this.all.map(({ answered_ms }) => answered_ms)),
      count: this.all.length,
    };
  }

  /** Each request by itself, in the order in which they were sent. */
  get bursts(): Burst[] {
    return this.all.map(({ sent_ms, answered_ms }) => ({ from_ms: sent_ms, to_ms: answered_ms, count: 1 }));
  }

  /** @throws NotChecked unless the limiter decided on every request */
  requireDecided(): this {
    const [first] = this.failed;
    if (first === undefined) return this;
    const { status, error } = first;
    throw new NotChecked(
      `${this.failed.length} of ${this.all.length} requests failed, the first with ${status ?? error ?? "no answer"}`,
    );
  }
}
