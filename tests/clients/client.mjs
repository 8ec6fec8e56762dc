// node client.mjs URL FOLDER VERSION: every method of LangGraph's JavaScript client of a version against a service.
// It prints the methods there are, what came of each one that is used, and the status of each one that is refused.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import { human, texts, until } from "./page.mjs";

const [url, , version] = process.argv.slice(2);
const { Client } = await import(`sdk-${version}`);
const client = new Client({ apiUrl: url });
const { assistants, threads, runs, store, crons } = client;
const ONE = ["one", "echo: one"];
const NOBODY = "00000000-0000-0000-0000-000000000000";
const HOLD = human("!hold /nowhere/at/all");

const thread = async (given) => (await threads.create(given)).thread_id;
const told = async (text) => {
  const made = await thread();
  await runs.wait(made, "talk", { input: human(text) });
  return made;
};
async function all(parts) {
  const read = [];
  for await (const part of parts) read.push(part);
  return read;
}

const used = {
  async "assistants.search assistants.count assistants.get"() {
    const found = await assistants.search({ graphId: "talk" });
    assert.deepEqual(found.map((one) => one.name), ["talk"]);
    assert.equal(await assistants.count({ graphId: "talk" }), 1);
    assert.deepEqual(await assistants.get(found[0].assistant_id), found[0]);
  },
  async "assistants.getGraph assistants.getSchemas assistants.getSubgraphs"() {
    const [{ assistant_id: id }] = await assistants.search({ graphId: "nested" });
    const names = (await assistants.getGraph(id, { xray: true })).nodes.map((node) => node.id);
    for (const name of ["__start__", "after", "__end__"]) assert.ok(names.includes(name), names);
    assert.equal((await assistants.getSchemas(id)).graph_id, "nested");
    assert.deepEqual(Object.keys(await assistants.getSubgraphs(id)), ["inner"]);
  },
  async "threads.create threads.get threads.update threads.delete"() {
    const made = await threads.create({ metadata: { a: 1 }, graphId: "talk", ifExists: "raise" });
    assert.deepEqual(await threads.get(made.thread_id), made);
    const merged = await threads.update(made.thread_id, { metadata: { b: null } });
    assert.deepEqual(merged.metadata, { ...made.metadata, b: null });
    await threads.delete(made.thread_id);
    assert.deepEqual(await threads.search({ ids: [made.thread_id] }), []);
  },
  async "threads.search threads.count"() {
    const mark = randomUUID();
    const ids = [];
    for (const number of [0, 1, 2]) ids.push(await thread({ metadata: { mark, number } }));
    const found = await threads.search({ metadata: { mark }, limit: 2, sortBy: "created_at", sortOrder: "asc" });
    assert.deepEqual(found.map((one) => one.thread_id), ids.slice(0, 2));
    const chosen = await threads.search({ metadata: { number: 2 }, ids, status: "idle", select: ["thread_id"] });
    assert.deepEqual(chosen, [{ thread_id: ids[2] }]);
    assert.equal(await threads.count({ metadata: { mark } }), 3);
  },
  async "threads.copy"() {
    const { thread_id: copy } = await threads.copy(await told("one"));
    assert.deepEqual(texts((await threads.getState(copy)).values.messages), ONE);
  },
  async "threads.getState threads.updateState threads.getHistory"() {
    const made = await told("one");
    const { checkpoint, values } = await threads.getState(made);
    assert.deepEqual((await threads.getState(made, checkpoint.checkpoint_id)).values, values);
    assert.deepEqual((await threads.getState(made, checkpoint, { subgraphs: true })).values, values);
    const more = { messages: [{ type: "ai", content: "more", id: "m" }] };
    const written = await threads.updateState(made, { values: more, asNode: "reply", checkpoint });
    const states = await threads.getHistory(made, { limit: 100 });
    assert.equal(states[0].checkpoint.checkpoint_id, written.checkpoint.checkpoint_id);
    assert.deepEqual(texts(states[0].values.messages), [...ONE, "more"]);
    for (const before of [states[1].checkpoint, { configurable: states[1].checkpoint }]) {
      assert.deepEqual(await threads.getHistory(made, { limit: 1, before }), [states[2]]);
    }
    assert.deepEqual(await threads.getHistory(made, { metadata: { source: "update" } }), [states[0]]);
  },
  async "runs.create runs.get runs.list runs.join runs.delete"() {
    const made = await thread();
    const run = await runs.create(made, "talk", { input: human("one"), metadata: { a: 1 } });
    assert.deepEqual(texts((await runs.join(made, run.run_id)).messages), ONE);
    assert.equal((await runs.get(made, run.run_id)).status, "success");
    const listed = await runs.list(made, { status: "success", limit: 5 });
    assert.deepEqual(listed.map((one) => one.run_id), [run.run_id]);
    await runs.delete(made, run.run_id);
    assert.deepEqual(await runs.list(made), []);
  },
  async "runs.wait"() {
    const made = await thread();
    assert.deepEqual(texts((await runs.wait(made, "talk", { input: human("one") })).messages), ONE);
    await assert.rejects(runs.wait(made, "talk", { input: human("!boom") }), /boom/);
    const failed = await runs.wait(made, "talk", { input: human("!boom"), raiseError: false });
    assert.deepEqual(failed, { __error__: { error: "ValueError", message: "boom" } });
  },
  async "runs.stream runs.joinStream"() {
    const made = await thread();
    let run;
    const streamMode = ["values", "messages-tuple", "custom"];
    const sent = { input: human("one"), streamMode, streamResumable: true, onRunCreated: (about) => (run = about) };
    const parts = await all(runs.stream(made, "talk", sent));
    assert.equal(parts[0].event, "metadata");
    const words = parts.filter((part) => part.event === "messages").map((part) => part.data[0].content);
    assert.deepEqual(words, ["echo:", " one"]);
    assert.deepEqual(await all(runs.joinStream(made, run.run_id, { lastEventId: "0" })), parts);
    const later = await all(runs.joinStream(made, run.run_id, { lastEventId: parts[2].id }));
    assert.deepEqual(later, parts.slice(3));
    const some = await all(runs.joinStream(made, run.run_id, { streamMode: ["values", "custom"] }));
    const asked = ["metadata", "values", "custom", "end"];
    assert.deepEqual(some, parts.filter((part) => asked.includes(part.event)));
  },
  async "runs.cancel"() {
    const made = await thread();
    const run = await runs.create(made, "talk", { input: HOLD });
    await runs.cancel(made, run.run_id, true);
    assert.equal((await runs.get(made, run.run_id)).status, "interrupted");
  },
  async "runs.cancelMany"() {
    const made = await thread();
    const { run_id } = await runs.create(made, "talk", { input: HOLD });
    await runs.cancelMany({ threadId: made, runIds: [run_id] });
    await runs.join(made, run_id);
    assert.equal((await runs.get(made, run_id)).status, "interrupted");
  },
  async "runs.createBatch"() {
    const before = await threads.count();
    const batch = await runs.createBatch(["one", "two"].map((text) => ({ assistantId: "talk", input: human(text) })));
    const gone = (error) => error.status === 404;
    for (const run of batch) await until(() => runs.get(run.thread_id, run.run_id).then(() => false, gone));
    assert.deepEqual(texts((await runs.wait(null, "talk", { input: human("one") })).messages), ONE);
    assert.equal(await threads.count(), before);
  },
  async "threads.prune"() {
    const made = await told("one");
    assert.deepEqual(await threads.prune([made], { strategy: "keep_latest" }), { pruned_count: 1 });
    assert.deepEqual(texts((await threads.getState(made)).values.messages), ONE);
    assert.deepEqual(await threads.prune([made]), { pruned_count: 1 });
    assert.deepEqual(await threads.search({ ids: [made] }), []);
  },
  async "store.putItem store.getItem store.searchItems store.listNamespaces store.deleteItem"() {
    const place = ["notes", randomUUID()];
    await store.putItem(place, "a", { n: 1 });
    assert.deepEqual((await store.getItem(place, "a")).value, { n: 1 });
    const { items } = await store.searchItems(place, { filter: { n: 1 } });
    assert.deepEqual(items.map((item) => item.key), ["a"]);
    assert.deepEqual((await store.listNamespaces({ prefix: place })).namespaces, [place]);
    await store.deleteItem(place, "a");
    assert.deepEqual((await store.searchItems(place)).items, []);
  },
};

const started = (made) => made.run.start({ input: {} });
const refused = {
  "assistants.create": () => assistants.create({ graphId: "talk" }),
  "assistants.update": () => assistants.update(NOBODY, { name: "x" }),
  "assistants.delete": () => assistants.delete(NOBODY),
  "assistants.getVersions": () => assistants.getVersions(NOBODY),
  "assistants.setLatest": () => assistants.setLatest(NOBODY, 1),
  "threads.patchState": async () => threads.patchState(await thread(), { a: 1 }),
  "threads.joinStream": async () => all(threads.joinStream(await thread())),
  "threads.stream": async () => started(threads.stream(await thread(), { assistantId: "talk" })),
  "crons.createForThread": async () => crons.createForThread(await thread(), "talk", { schedule: "* * * * *" }),
  "crons.create": () => crons.create("talk", { schedule: "* * * * *" }),
  "crons.update": () => crons.update(NOBODY, { schedule: "* * * * *" }),
  "crons.delete": () => crons.delete(NOBODY),
  "crons.search": () => crons.search(),
  "crons.count": () => crons.count(),
};

const answer = { methods: [], used: {}, refused: {} };
for (const [room, made] of Object.entries({ assistants, threads, runs, store, crons })) {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(made));
  const open = names.filter((name) => name !== "constructor" && !name.startsWith("_"));
  answer.methods.push(...open.map((name) => `${room}.${name}`));
}
for (const [names, use] of Object.entries(used)) {
  const came = await use().then(() => "ok", (error) => String(error.stack));
  for (const name of names.split(" ")) answer.used[name] = came;
}
for (const [name, call] of Object.entries(refused)) {
  answer.refused[name] = await call().then(
    () => "served",
    (error) => Number(error.status ?? /\b[45]\d\d\b/.exec(error.message)?.[0]) || String(error),
  );
}
console.log(JSON.stringify(answer));
// the client keeps its connections open
process.exit(0);
