import type { TrafficProfile } from "../types.js";
import { GENEROUS, zipfPopulation } from "./population.js";

export const denied: TrafficProfile = {
  id: "denied",
  summary: "10 000 users by Zipf's law, all of whom have used up their quota",
  limits: GENEROUS,
  population: () => zipfPopulation(0, 10_000, 1),
};
