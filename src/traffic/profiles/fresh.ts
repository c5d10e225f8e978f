import { FRESH_KEY, type TrafficProfile } from "../types.js";
import { evenShares, GENEROUS, user } from "./population.js";

const KNOWN = 1_000;

export const variable: TrafficProfile = {
  id: "variable",
  summary: "each request on a key of its own, all admitted",
  limits: GENEROUS,
  population: () => ({ requests: [[FRESH_KEY]], shares: Float64Array.of(1) }),
};

export const sparse: TrafficProfile = {
  id: "sparse",
  summary: "90 % of the requests on keys never seen before, the rest on 1 000 users, all admitted",
  limits: GENEROUS,
  population: () => ({
    requests: [[FRESH_KEY], ...Array.from({ length: KNOWN }, (_, rank) => user(rank))],
    shares: Float64Array.from([0.9, ...evenShares(KNOWN, 0.1)]),
  }),
};
