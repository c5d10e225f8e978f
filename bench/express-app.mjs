// An API on Express that answers a list in JSON. WORK_ROUNDS is work that each request does besides: a build that is slower.
import express from "express";
import { work } from "./work.mjs";

const rounds = Number(process.env.WORK_ROUNDS ?? "0");
const items = Array.from({ length: 20 }, (_, id) => ({ id, name: `item ${id}`, price: id / 4 }));

const app = express();
app.get("/api/items", (request, reply) => {
  work(rounds);
  reply.json({ user: request.query.user, items });
});
app.listen(Number(process.env.PORT), "127.0.0.1");
