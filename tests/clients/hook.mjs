// node hook.mjs URL FOLDER VERSION GRAPH: LangGraph's React hook of a version against a service.
// It prints a JSON object that gives each scenario's name "ok" or what went wrong.
import * as scenarios from "./scenarios.mjs";
import { Page } from "./page.mjs";

const [url, folder, version, graph] = process.argv.slice(2);
const { useStream } = await import(`sdk-${version}/react`);
const { Client } = await import(`sdk-${version}`);
const client = new Client({ apiUrl: url });
const told = {};
let failure = null;
// the SDK prints each failure that it also gives to the page
console.error = () => {};
process.on("unhandledRejection", (error) => (failure ??= error));

for (const [name, scenario] of Object.entries(scenarios)) {
  const pages = [];
  const open = (options = {}) => {
    pages.push(new Page(useStream, { apiUrl: url, assistantId: graph, ...options }));
    return pages.at(-1).opened();
  };
  try {
    failure = null;
    await scenario({ open, client, version, url, folder, graph });
    if (failure) throw failure;
    told[name] = "ok";
  } catch (error) {
    told[name] = String(error.stack ?? error);
  }
  pages.forEach((page) => page.close());
}
console.log(JSON.stringify(told));
// the SDK keeps its connections open
process.exit(0);
