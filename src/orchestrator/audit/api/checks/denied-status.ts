import { type ApiCheck, broken, holding } from "../api-check.js";

export const deniedStatus: ApiCheck = {
  id: "denied-status",
  title: "Status of a denial",
  isFirst: true,
  promise: "A request beyond the quota is answered with the status of denials.",
  matters:
    "Clients wait on 429 and give up on 403; monitors count 5xx as an outage of the API itself.",
  cost: () => ({ requests: 0, windows: 0 }),
  async run({ settings, deniedStatus: status }) {
    const promised = `${settings.deniedStatus} beyond the quota`;
    if (status === settings.deniedStatus) return holding(promised, String(status));
    return broken("denied-status", promised, String(status), [
      {
        sent: "requests on a fresh key beyond its quota, one after the other",
        answered: `${status} for each beyond the quota`,
        promised: String(settings.deniedStatus),
      },
    ]);
  },
};
