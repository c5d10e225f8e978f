import type { TrafficProfile } from "../types.js";
import { evenShares, GENEROUS, user } from "./population.js";

const USERS = 10_000;
const population = () => ({
  requests: Array.from({ length: USERS }, (_, rank) => user(rank)),
  shares: evenShares(USERS, 1),
});

export const random: TrafficProfile = {
  id: "random",
  summary: "10 000 users, each as likely as any other, all admitted",
  limits: GENEROUS,
  population,
};

export const sequential: TrafficProfile = {
  id: "sequential",
  summary: "10 000 users one after the other, round and round, all admitted",
  limits: GENEROUS,
  order: "sequential",
  population,
};
