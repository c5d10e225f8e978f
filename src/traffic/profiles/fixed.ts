import type { TrafficProfile } from "../types.js";
import { GENEROUS, user } from "./population.js";

export const fixed: TrafficProfile = {
  id: "fixed",
  summary: "one key for all requests, all admitted (with --points N: N a window, the rest limited)",
  limits: GENEROUS,
  population: () => ({ requests: [user(0)], shares: Float64Array.of(1) }),
};
