import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod/v4";

const Weather = { degrees: z.number(), sky: z.enum(["clear", "cloudy"]) };

function answer(degrees: number): CallToolResult {
  const structuredContent = { degrees, sky: "clear" };
  return { structuredContent, content: [{ type: "text", text: JSON.stringify(structuredContent) }] };
}

function addTools(target: McpServer): void {
  target.registerTool("weather", {
    inputSchema: { city: z.string() },
    outputSchema: Weather,
  }, async ({ city }) => answer(city.length));
}

const getServer = () => {
  const made = new McpServer({
    name: "weather",
    version: "1.0.0",
  });
  addTools(made);
  return made;
};

export const server = getServer();
