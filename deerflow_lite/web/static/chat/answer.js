// An answer as it is read: reasoning folded, words as Markdown, each tool call folded with its result.

import { html } from '../html.js';
import { Icon } from '../icons.js';
import { parts } from './said.js';
import { Prose } from './prose.js';

/** Draw the messages that answer a question; `growing` while more may come. */
export function Answer({ messages, growing = false }) {
  const said = parts(messages);
  return said.map((part, number) => {
    const Part = PARTS[part.kind];
    return html`<${Part} key=${part.key} part=${part} growing=${growing && number === said.length - 1} />`;
  });
}

const PARTS = {
  text: ({ part, growing }) => html`
    <${Prose} text=${part.text} growing=${growing} />
    ${part.cut && html`<p class="quiet cut-off">It was cut off here.</p>`}`,
  reasoning: ({ part, growing }) => html`
    <details class="fold">
      <summary><span class="fold-name">${growing ? 'Thinking…' : 'Reasoning'}</span></summary>
      <div class="fold-body as-written" dir="auto">${part.text}</div>
    </details>`,
  tool: Tool,
};

function Tool({ part, growing }) {
  const failed = part.result?.status === 'error';
  const state = part.result ? (failed ? 'failed' : 'done') : growing ? 'running' : 'no result';
  return html`
    <details class="fold" data-state=${state}>
      <summary>
        <${Icon} name="tool" />
        <span class="fold-name">${part.name || 'tool'}</span>
        <span class="fold-hint">${hint(part)}</span>
        <span class="fold-state">${state === 'done' ? '' : state}</span>
      </summary>
      <div class="fold-body">
        ${part.args !== '' && html`<h3>Arguments</h3><pre tabindex="0"><code>${printed(part.args)}</code></pre>`}
        ${part.result && html`<h3>Result</h3><pre tabindex="0"><code>${printed(part.result.content)}</code></pre>`}
      </div>
    </details>`;
}

/** The arguments in a few words, so that most calls need not be unfolded. */
function hint({ args }) {
  const values = args && typeof args === 'object' ? Object.values(args) : [];
  return values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(', ');
}

function printed(value) {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2);
  try {
    const read = JSON.parse(value);
    return read !== null && typeof read === 'object' ? JSON.stringify(read, null, 2) : value;
  } catch {
    return value;
  }
}
