import type { Gates, HeadKind } from "./gate-page.js";

/**
 * The heads that are still to be measured, while the measured ones are added to `gates`. Kinds take
 * turns, by the share of each that is measured, so that a bench that is interrupted has some of each.
 * @param counts how many gates of each kind are wanted in all
 */
export function* remainingHeads(
  gates: readonly Pick<Gates["gates"][number], "head">[],
  counts: Readonly<Record<HeadKind, number>>,
): Generator<HeadKind> {
  for (;;) {
    const shares = (Object.keys(counts) as HeadKind[]).map((head) => {
      const measuredGates = gates.filter((gate) => gate.head === head).length;
      return { head, share: measuredGates / counts[head] };
    });
    const [next] = shares.filter(({ share }) => share < 1).sort((a, b) => a.share - b.share);
    if (!next) return;
    yield next.head;
  }
}
