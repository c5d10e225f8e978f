import { placeOfWorker } from "../../src/benchmark/workers/protocol.js";

/** The places of the workers of each of several generators. */
export const placesOf = (generators: number, workers: number) =>
  Array.from({ length: generators }, (_, index) => {
    const share = generators > 1 ? { share: { index, of: generators } } : {};
    return Array.from({ length: workers }, (_, worker) =>
      placeOfWorker({ ...share, workers }, worker),
    );
  });
