import type { FastifyInstance } from "fastify";
import type { ProcessDiagnosis } from "../../contract/diagnosis.js";
import type { Counters } from "../lib/counters.js";
import type { Instruments } from "../lib/instruments.js";

/** `GET /diagnosis`: what the instruments saw since the last call. */
export function diagnosis(
  app: FastifyInstance,
  counters: Counters,
  instruments: Pick<Instruments, "take">,
): void {
  let finished = 0;
  app.get("/diagnosis", (_request, reply) => {
    const reading: ProcessDiagnosis = {
      requests: counters.finished - finished,
      ...instruments.take(),
    };
    finished = counters.finished;
    reply.send(reading);
  });
}
