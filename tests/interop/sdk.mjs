// The TypeScript client of the first generation: node sdk.mjs PLAN http URL | node sdk.mjs PLAN stdio COMMAND ARGUMENT...
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { walk } from "./walk.mjs";

const client = new Client({ name: "interop", version: "1" });
await walk(client, { stdio: StdioClientTransport, http: StreamableHTTPClientTransport }, () => "2025-11-25");
