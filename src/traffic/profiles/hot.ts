import type { TrafficProfile } from "../types.js";
import { evenShares, GENEROUS, user } from "./population.js";

const USERS = 10_000;
const HOT = USERS / 5;

export const hot: TrafficProfile = {
  id: "hot",
  summary: "10 000 users; 80 % of the requests come from 20 % of them, all admitted",
  limits: GENEROUS,
  population: () => ({
    requests: Array.from({ length: USERS }, (_, rank) => user(rank)),
    shares: Float64Array.from([...evenShares(HOT, 0.8), ...evenShares(USERS - HOT, 0.2)]),
  }),
};
