import type { TrafficProfile } from "../types.js";
import { GENEROUS, zipfPopulation } from "./population.js";

export const allowed: TrafficProfile = {
  id: "allowed",
  summary: "10 000 users by Zipf's law, all admitted",
  limits: GENEROUS,
  population: () => zipfPopulation(10_000, 0, 0),
};
