import type { V1Pod } from "@kubernetes/client-node";
import type { KubernetesAccess } from "../../contract/machines.js";
import { ownName } from "../containers/own-images.js";
import { ownPart } from "../own-programs.js";
import type { OwnProgram, RuntimeOptions } from "../runtime-types.js";
import { type campaignMetadata, HELPER_CAPS, podOf } from "./pod.js";

/** The name of an image of this project, as the nodes pull it. */
export const ownImage = async (
  program: OwnProgram,
  packageFolder: string,
  { registry }: KubernetesAccess,
) => `${registry === undefined ? "" : `${registry}/`}${await ownName(program, packageFolder)}`;

/**
 * A pod like the smallest of a campaign. A quota that forbids a larger one is reported when its role
 * starts.
 */
export async function trialPod(
  name: string,
  metadata: ReturnType<typeof campaignMetadata>,
  access: KubernetesAccess,
  { packageFolder }: RuntimeOptions,
): Promise<V1Pod> {
  const part = ownPart("helper-trial", "server");
  return podOf({
    part,
    kind: "helper",
    name: `${name}-trial`,
    command: ["true"],
    environment: {},
    caps: HELPER_CAPS,
    image: await ownImage("server", packageFolder, access),
    mark: "trial",
    metadata,
    access,
  });
}
