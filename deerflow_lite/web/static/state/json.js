// JSON that can be unfolded, part by part; what is folded is not drawn, so that a large state opens at once.
// Every text of it is shown as text.

import { html, useState } from '../html.js';

const AT_ONCE = 100;

/** Draw a value under a name; the first levels are open. */
export function Json({ value, name = null, depth = 0 }) {
  if (value === null || typeof value !== 'object') return html`<${Leaf} name=${name} value=${value} />`;
  return html`<${Branch} name=${name} value=${value} depth=${depth} />`;
}

const Leaf = ({ name, value }) => html`
  <div class="json-leaf">
    ${label(name)}<span data-type=${value === null ? 'null' : typeof value}>${JSON.stringify(value)}</span>
  </div>`;

function Branch({ name, value, depth }) {
  const [open, setOpen] = useState(depth < 2);
  const [most, setMost] = useState(AT_ONCE);
  const entries = Object.entries(value);
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  if (!entries.length) return html`<div class="json-leaf">${label(name)}<span class="quiet">${size}</span></div>`;
  return html`
    <details class="json" open=${open} onToggle=${(event) => setOpen(event.target.open)}>
      <summary>${label(name)}<span class="quiet">${size}</span></summary>
      ${open && html`
        <div class="json-below">
          ${entries.slice(0, most).map(([key, one]) => html`
            <${Json} key=${key} name=${key} value=${one} depth=${depth + 1} />`)}
          ${entries.length > most && html`
            <button class="ghost" onClick=${() => setMost(most + AT_ONCE * 10)}>${entries.length - most} more</button>`}
        </div>`}
    </details>`;
}

const label = (name) => (name === null ? '' : html`<span class="json-name">${name}</span>`);
