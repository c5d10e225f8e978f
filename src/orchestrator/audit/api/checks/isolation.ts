import { counted } from "../../../ui/text.js";
import { answersText } from "../api-answers.js";
import { type ApiCheck, broken, holding } from "../api-check.js";
import { BEYOND_QUOTA } from "../audited-api.js";

export const isolation: ApiCheck = {
  id: "isolation",
  title: "Keys apart",
  isFirst: true,
  promise: "Two keys have a quota each.",
  matters: "Where clients share a quota, one of them denies all others.",
  unsupportedReason: ({ carrier }) =>
    carrier.hasOneKey ? "all requests come from one address" : undefined,
  cost: ({ points }) => ({ requests: points + BEYOND_QUOTA, windows: 0 }),
  async run(api) {
    const usedUp = await api.useUp(await api.freshKey());
    const [second] = await api.oneByOne(await api.freshKey(), 1);
    const promised = "a fresh key is admitted beside a used-up one";
    if (second?.fate === "admitted") return holding(promised, "admitted");

    const answered = second ? answersText([second]) : "nothing";
    return broken("keys-share-a-quota", promised, answered, [
      {
        sent: `${counted(usedUp.length, "request")} on a fresh key`,
        answered: answersText(usedUp),
      },
      { sent: "a request on another fresh key", answered, promised: "it is admitted" },
    ]);
  },
};
