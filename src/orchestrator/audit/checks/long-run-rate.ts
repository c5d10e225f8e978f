import { admissionsOutcome, type Check } from "../check.js";
import { steady } from "../scripted.js";

export const longRunRate: Check = {
  id: "long-run-rate",
  title: "Long-run rate",
  beside: true,
  promise: "A key that always asks for more gets its quota in every window, no more and no less.",
  matters:
    "It is the rate that a price list names. What is rounded in each window adds up over hours.",
  async run(system) {
    const found = await steady(system);
    return admissionsOutcome(found, { promised: ` of ${found.requests} in ${found.seconds} s` });
  },
};
