// What both clients do: list everything, read, call and get each once, and say in a line of JSON what there was.
import { readFileSync } from "node:fs";

const [file, kind, target, ...args] = process.argv.slice(2);

async function all(list, key) {
  const found = [];
  let cursor;
  do {
    const page = await list(cursor ? { cursor } : {});
    found.push(...page[key]);
    cursor = page.nextCursor;
  } while (cursor);
  return found;
}

export async function walk(client, transports, version) {
  const plan = JSON.parse(readFileSync(file));
  const transport =
    kind === "stdio"
      ? new transports.stdio({ command: target, args, stderr: "inherit" })
      : new transports.http(new URL(target));
  await client.connect(transport);
  const tools = await all((page) => client.listTools(page), "tools");
  const resources = await all((page) => client.listResources(page), "resources");
  const templates = await all((page) => client.listResourceTemplates(page), "resourceTemplates");
  const prompts = await all((page) => client.listPrompts(page), "prompts");
  const failed = [];
  for (const { name } of tools) {
    const answer = await client.callTool({ name, arguments: plan.tools[name] });
    if (answer.isError) failed.push(name);
  }
  for (const { uri } of resources) {
    const { contents } = await client.readResource({ uri });
    JSON.parse(contents[0].text);
  }
  for (const { name } of prompts) {
    const { messages } = await client.getPrompt({ name, arguments: plan.prompts[name] });
    if (!messages.length) failed.push(name);
  }
  const names = (list) => list.map((one) => one.name);
  console.log(
    JSON.stringify({
      version: version(),
      failed,
      tools: names(tools),
      prompts: names(prompts),
      templates: templates.length,
      resources: resources.length,
    }),
  );
  await client.close();
}
