// A page with LangGraph's React hook in a document without a browser; it knows no scenario.
import { JSDOM } from "jsdom";

const DEADLINE = 20_000;
const { window } = new JSDOM("<!doctype html>", { url: "http://127.0.0.1/" });
for (const name of ["window", "document", "navigator"]) {
  const value = name === "window" ? window : window[name];
  Object.defineProperty(globalThis, name, { value, configurable: true });
}
// React looks for the document when it is loaded
const { createElement } = await import("react");
const { createRoot } = await import("react-dom/client");

export const human = (content, id) => ({ messages: [{ type: "human", content, ...(id && { id }) }] });
export const texts = (messages) => messages.map((message) => message.content);

// Ask again and again until the answer is true, and give it.
export async function until(met, what = met) {
  for (const end = Date.now() + DEADLINE; Date.now() < end; ) {
    const answer = await met();
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`it did not come: ${what}`);
}

// One page that stands open; `hook` is what the hook gave when it was drawn last.
export class Page {
  constructor(useStream, options) {
    this.drawn = [];
    this.events = [];
    this.errors = [];
    this.threadId = options.threadId ?? null;
    this._options = {
      fetchStateHistory: true,
      onThreadId: (threadId) => this._open(threadId),
      onCreated: (run) => this.events.push(["created", run]),
      onCustomEvent: (data) => this.events.push(["custom", data]),
      onFinish: () => this.events.push(["finish"]),
      onError: (error) => this.errors.push(error),
      ...options,
    };
    this._hook = ({ threadId }) => {
      this.hook = useStream({ ...this._options, threadId });
      this.drawn.push(texts(this.hook.messages));
      return null;
    };
    this._root = createRoot(window.document.createElement("div"));
    this._open(this.threadId);
  }

  _open(threadId) {
    this.threadId = threadId;
    this._root.render(createElement(this._hook, { threadId }));
  }

  get messages() {
    return this.hook.messages;
  }

  get texts() {
    return texts(this.messages);
  }

  about(number) {
    return this.hook.getMessagesMetadata(this.messages[number], number);
  }

  branches(number) {
    const { branch, branchOptions } = this.about(number);
    return { branch, options: branchOptions };
  }

  // Open the page: the hook was drawn and knows the thread.
  async opened() {
    await until(() => this.hook && !this.hook.isThreadLoading, "the page opens");
    return this;
  }

  // Send something and wait until the page is at rest with the stored states.
  async say(input, more = {}) {
    const finished = this.count("finish") + this.errors.length;
    await this.hook.submit(input, { streamMode: ["values"], ...more });
    await until(() => this.count("finish") + this.errors.length > finished, "the answer ends");
    await this.rested();
  }

  async rested() {
    await until(() => !this.hook.isLoading && !this.hook.isThreadLoading, "the page rests");
  }

  count(name) {
    return this.events.filter(([event]) => event === name).length;
  }

  close() {
    this._root.unmount();
  }
}
