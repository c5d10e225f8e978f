// The minimal Fastify server with the same answer, the reference for our server with `none`.
import Fastify from "fastify";

const app = Fastify({ logger: false, keepAliveTimeout: 120_000 });
const body = process.env.BODY;
app.get("/light", (_request, reply) => {
  reply.header("content-type", "application/json; charset=utf-8").send(body);
});
await app.listen({ host: "127.0.0.1", port: Number(process.env.PORT) });
process.send?.("listening");
