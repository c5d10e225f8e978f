import { createHash } from "node:crypto";
import type { RoleKind } from "../../contract/role.js";
import { CAMPAIGN_LABEL, OWNER_LABEL, ownerText, ROLE_LABEL } from "../containers/labels.js";
import type { Owner } from "../types.js";

/** Everything that the harness creates in a cluster has this label. It never removes anything without it. */
export const MANAGED_BY = "app.kubernetes.io/managed-by";
export const MANAGER = "ratelimit-bench";
export const OURS = `${MANAGED_BY}=${MANAGER}`;
export const KIND_LABEL = "ratelimit-bench.kind";

/** The value of a label takes no colon: the owner's own text is an annotation of the same name. */
const ownerLabel = (owner: Owner): string =>
  createHash("sha256").update(ownerText(owner)).digest("hex").slice(0, 16);

export const labelValue = (text: string): string =>
  text
    .replace(/[^0-9A-Za-z._-]/g, "-")
    .slice(0, 63)
    .replace(/^[^0-9A-Za-z]+|[^0-9A-Za-z]+$/g, "");

export function campaignMetadata(owner: Owner, campaign: string) {
  return {
    labels: {
      [MANAGED_BY]: MANAGER,
      [OWNER_LABEL]: ownerLabel(owner),
      [CAMPAIGN_LABEL]: labelValue(campaign),
    },
    annotations: { [OWNER_LABEL]: ownerText(owner) },
  };
}

/** Selects what an owner created. */
export const selectorOf = (owner: Owner): string => `${OURS},${OWNER_LABEL}=${ownerLabel(owner)}`;

export const roleLabels = (role: string, kind: RoleKind) => ({
  [ROLE_LABEL]: labelValue(role),
  [KIND_LABEL]: kind,
});
