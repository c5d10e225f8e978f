import { messageOf } from "../../kit/errors.js";
import { PartFailed } from "../run/part-supervisor.js";

/**
 * The result of a trial run; undefined where it failed, because the runs of its configuration will
 * fail in the same way and say so.
 * @param leaveOut takes the reason of the failure
 */
export async function unlessFailed<Value>(
  trial: Promise<Value>,
  leaveOut: (reason: string) => void,
): Promise<Value | undefined> {
  try {
    return await trial;
  } catch (error) {
    if (!(error instanceof PartFailed)) throw error;
    leaveOut(`${error.role} ${messageOf(error)}`);
    return undefined;
  }
}
