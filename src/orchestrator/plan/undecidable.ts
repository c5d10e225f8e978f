import { isProgramLayer, type Layer, layerDescription } from "../../contract/layers.js";
import { grouped } from "../../kit/grouped.js";
import {
  type ConcludedFigure,
  type PairKind,
  pairKind,
  pairKinds,
  readErrorBudget,
  systematicError,
} from "./error-budget.js";
import { originals, type Planned, type Ranking } from "./rankings.js";

/** What no number of rounds can tell of one figure of some pairs by turns (M34). */
export interface Undecidable {
  layer: Layer;
  /** Two targets, or two builds of one program: versions of a client, or a target and its copy. */
  pairs: PairKind;
  figure: ConcludedFigure;
  /** A difference below it cannot be told, in %. */
  smallest_difference_percent: number;
  /** The components of the systematic error that were not measured. */
  unmeasured: readonly string[];
  /** Whether enough rounds could show that there is no difference within the margin. */
  can_show_no_difference: boolean;
}

/** What no number of rounds can tell of the pairs of a ranking by turns. `margin` is a share. */
export function undecidableIn({ members, reference }: Ranking, margin: number): Undecidable[] {
  if (!reference || isProgramLayer(reference.configuration.layer)) return [];

  const { layer, load } = reference.configuration;
  const others = members.filter((member) => member !== reference);
  const figures: ConcludedFigure[] = [load.model === "open" ? "p99" : "throughput", "cpu"];
  return kindsOfPairs(others, reference).flatMap((pairs) =>
    figures.map((figure) => {
      const { share, unmeasured } = systematicError(readErrorBudget(), { layer, figure, pairs });
      return {
        layer,
        pairs,
        figure,
        smallest_difference_percent: Number((100 * share).toFixed(2)),
        unmeasured,
        can_show_no_difference: unmeasured.length === 0 && share < margin,
      };
    }),
  );
}

/** The kinds of the pairs that are compared with the reference, without its copy. */
export const kindsOfComparisons = ({ members, reference }: Ranking): PairKind[] =>
  reference
    ? kindsOfPairs(
        originals(members).filter((member) => member !== reference),
        reference,
      )
    : [];

function kindsOfPairs(others: readonly Planned[], reference: Planned): PairKind[] {
  const kinds = others.map(({ configuration }) =>
    pairKind(configuration.target, reference.configuration.target),
  );
  return pairKinds.filter((kind) => kinds.includes(kind));
}

/** What is compared, as `two targets` or `limiter layer, two targets`. */
export function whoText(layer: Layer, pairs: PairKind, hasSeveralLayers: boolean): string {
  return `${hasSeveralLayers ? `${layer} layer, ` : ""}${WHO[pairs]}`;
}

const WHO: Record<PairKind, string> = {
  targets: "two targets",
  "one program": "two versions of a client, or a target and its copy",
};

/** Lines on all of this, e.g. `two targets: no number of rounds shows “no difference” in …`. */
export function undecidableLines(entries: readonly Undecidable[]): string[] {
  const hasSeveralLayers = new Set(entries.map(({ layer }) => layer)).size > 1;
  return grouped(entries, ({ layer, pairs }) => `${layer} ${pairs}`).flatMap((alike) => {
    const [first] = alike;
    if (!first) return [];
    const who = whoText(first.layer, first.pairs, hasSeveralLayers);
    return [...equalityTexts(alike), ...sizeTexts(alike)].map(
      (text) => `${who}: no number of rounds ${text} (M34)`,
    );
  });
}

/** Texts on figures of which no number of rounds shows that they do not differ. */
function equalityTexts(entries: readonly Undecidable[]): string[] {
  const impossible = entries.filter(({ can_show_no_difference: isPossible }) => !isPossible);
  return grouped(impossible, ({ unmeasured }) => unmeasured.join()).map((alike) => {
    const figures = or.format(new Set(alike.map(figureText)));
    const unmeasured = alike[0]?.unmeasured ?? [];
    const reason =
      unmeasured.length > 0
        ? `the systematic error was not measured (${unmeasured.join(", ")}); a difference is told without it`
        : "the systematic error is as large as the margin";
    return `shows “no difference” in ${figures}, because ${reason}`;
  });
}

/** A text on the differences that are too small for any number of rounds. */
function sizeTexts(entries: readonly Undecidable[]): string[] {
  const bounds = entries
    .filter(({ smallest_difference_percent: percent }) => percent > 0)
    .map((entry) => `${percentText(entry.smallest_difference_percent)} of ${figureText(entry)}`);
  return bounds.length > 0 ? [`tells a difference below ${or.format(bounds)} from none`] : [];
}

const or = new Intl.ListFormat("en-GB", { type: "disjunction" });

const percentText = (percent: number): string => `${Number(percent.toPrecision(2))} %`;

const figureText = ({ layer, figure }: Undecidable): string =>
  figure === "cpu" ? `${layerDescription(layer).consumer} CPU` : figure;
