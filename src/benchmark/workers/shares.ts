import type { GeneratorSpec } from "../../contract/run-spec.js";

/** The place of one worker among those of all generators: number `index`, from 0, of `of`. */
export interface WorkerPlace {
  index: number;
  of: number;
}

/**
 * The first worker of each generator, then the second of each: so larger shares fall on many generators, and an open
 * loop's sends take turns between generators. @param worker its index in its generator
 */
export function placeOfWorker(
  { share: { index, of } = { index: 0, of: 1 }, workers }: Pick<GeneratorSpec, "share" | "workers">,
  worker: number,
): WorkerPlace {
  return { index: worker * of + index, of: workers * of };
}

export const shareOf = (total: number, { index, of }: WorkerPlace): number =>
  Math.floor(total / of) + (index < total % of ? 1 : 0);

export const sharesBefore = (total: number, { index, of }: WorkerPlace): number =>
  index * Math.floor(total / of) + Math.min(index, total % of);
