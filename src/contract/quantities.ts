import { z } from "zod";

export const countSchema = z.int().min(0);

export const millisecondsSchema = z.number().min(0);
