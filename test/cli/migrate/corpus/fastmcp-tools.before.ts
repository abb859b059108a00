import { FastMCP, UserError } from "fastmcp";
import { z } from "zod";

export const server = new FastMCP({
  name: "Sums",
  version: "1.0.0",
});

server.addTool({
  name: "add",
  description: "Add two numbers",
  parameters: z.object({
    a: z.number(),
    b: z.number(),
  }),
  annotations: { readOnlyHint: true },
  execute: async (args) => {
    return String(args.a + args.b);
  },
});

server.addTool({
  name: "download",
  description: "Download a file",
  parameters: z.object({ url: z.string() }),
  async execute({ url }, { log, reportProgress }) {
    log.info("Downloading", { url });
    if (!url.startsWith("https:")) throw new UserError("Only https");
    await reportProgress({ progress: 1, total: 2 });
    log.warn("Slow");
    return { content: [{ type: "text", text: url }, { type: "text", text: "done" }] };
  },
});

server.addTool({ name: "ping", description: "Answers", execute: async () => "pong" });

export const main = async () => {
  await server.start({ transportType: "stdio" });
};
