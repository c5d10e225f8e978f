import { counted } from "../../../ui/text.js";
import { answersText, withFate } from "../api-answers.js";
import { type ApiCheck, broken, holding, skippedBecause } from "../api-check.js";
import { TRACE_WINDOWS, type Trace, tracesOf } from "../traces.js";

/** A body that is shorter is in any other by chance. */
const LEAST_BODY = 2;

export const denialCost: ApiCheck = {
  id: "denial-cost",
  title: "Cost of a denial",
  promise:
    "A denial costs nothing of the handler: its answer holds nothing that the handler writes.",
  matters: "A limiter behind its handler denies after the work is done, and protects nothing.",
  // It looks at the requests of another check.
  cost: () => ({ requests: 0, windows: TRACE_WINDOWS }),
  async run(api) {
    const [{ usedUp, denied }] = (await tracesOf(api)) as [Trace];
    const [admitted] = withFate(usedUp, "admitted");
    const written = admitted?.body ?? "";
    if (written.length < LEAST_BODY || denied.body === "")
      return skippedBecause("the answers do not tell: a body is empty");

    const promised = "a denial without the handler's body";
    if (!denied.body.includes(written)) return holding(promised, "another body");
    return broken("denial-runs-handler", promised, "the body of an admitted request", [
      {
        sent: `${counted(usedUp.length, "request")} on a fresh key, one after the other`,
        answered: `${answersText(usedUp)}; the last one with the body of the first`,
        promised: "a denial has a body of its own, or none",
      },
    ]);
  },
};
