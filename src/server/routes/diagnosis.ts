import type { ProcessDiagnosis } from "../../contract/diagnosis.js";
import type { Handler } from "../frameworks/framework.js";
import type { Counters } from "../lib/counters.js";
import type { Instruments } from "../lib/instruments.js";

export function diagnosis(counters: Counters, instruments: Pick<Instruments, "take">): Handler {
  let finished = 0;
  return (_request, reply) => {
    const reading: ProcessDiagnosis = { requests: counters.finished - finished, ...instruments.take() };
    finished = counters.finished;
    reply.send(reading);
  };
}
