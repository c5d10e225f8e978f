/** How often a worker sent each distinct request since its start, and how often its fate is unknown (M27). */
export class RequestCounts {
  readonly sent: Uint32Array<ArrayBuffer>;
  readonly undecided: Uint32Array<ArrayBuffer>;

  constructor(requests: number) {
    this.sent = new Uint32Array(requests);
    this.undecided = new Uint32Array(requests);
  }

  connection(): ConnectionCounts {
    let request = 0;
    const { sent, undecided } = this;
    return {
      sent(which) {
        request = which;
        sent[which] = (sent[which] ?? 0) + 1;
      },
      undecided() {
        undecided[request] = (undecided[request] ?? 0) + 1;
      },
    };
  }
}

export interface ConnectionCounts {
  sent(which: number): void;
  /** The request that was sent last will have no decision, or a failed one. */
  undecided(): void;
}
