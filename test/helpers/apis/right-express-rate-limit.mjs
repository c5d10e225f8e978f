import express from "express";
import { rateLimit } from "express-rate-limit";
import { keyOfClient, settings } from "./http-api.mjs";

const limiter = rateLimit({
  windowMs: settings.window_ms,
  limit: settings.quota,
  standardHeaders: "draft-8",
  legacyHeaders: true,
  keyGenerator: keyOfClient,
});

express()
  .use(limiter)
  .get("/api/items", (_request, response) => response.json({ items: [] }))
  .listen(settings.port, "127.0.0.1");
