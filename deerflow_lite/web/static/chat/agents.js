// Which agent a new chat is held with; it stands only where there is a choice.

import { html, signal, useEffect } from '../html.js';
import { post } from '../api.js';
import { keptSignal } from '../storage.js';

const agents = signal([]);
const preferred = keptSignal('agent', '');

/** The name of the graph that a new chat is sent to; null: the service's own. */
export const chosen = {
  peek: () => (agents.peek().includes(preferred.peek()) ? preferred.peek() : agents.peek()[0] ?? null),
};

/** Draw the choice of agents, nothing where there is one. */
export function Agents() {
  useEffect(() => { load().catch(() => {}); }, []); // without the list a message goes to the first agent all the same
  const names = agents.value;
  if (names.length < 2) return html`<span></span>`;
  const value = names.includes(preferred.value) ? preferred.value : names[0];
  return html`
    <label class="agents"><span class="unseen">Agent</span>
      <select class="ghost" value=${value} onChange=${(event) => { preferred.value = event.target.value; }}>
        ${names.map((name) => html`<option value=${name}>${name}</option>`)}
      </select>
    </label>`;
}

async function load() {
  const found = await post('/assistants/search', { limit: 100 });
  agents.value = [...new Set(found.filter((one) => !one.metadata?.error).map((one) => one.graph_id))];
}
