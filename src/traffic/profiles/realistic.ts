import type { TrafficProfile } from "../types.js";
import { GENEROUS, zipfPopulation } from "./population.js";

export const realistic: TrafficProfile = {
  id: "realistic",
  summary: "10 000 users by Zipf's law; 10 % of the requests come from users whose quota is used up",
  limits: GENEROUS,
  population: () => zipfPopulation(9_000, 1_000, 0.1),
};
