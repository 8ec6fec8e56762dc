// The dialog that lists every command with keys, and where the keys are switched off.
// The keys themselves are the commands'.

import { Fragment, html, signal } from './html.js';
import { commands, shownKeys } from './commands.js';
import { Dialog } from './dialog.js';
import { keysOn } from './keys.js';

const open = signal(false);

/** Show the list of keys. */
export function showKeys() {
  open.value = true;
}

const OTHERS = [
  ['Send, or save what is edited', 'Enter'], ['New line', 'Shift+Enter'], ['Walk the list of chats', '↑+↓'],
];

const Keys = ({ keys }) => shownKeys(keys).map((key) => html`<kbd key=${key}>${key}</kbd>`);

/** Draw the dialog while it is open. */
export function Shortcuts() {
  if (!open.value) return null;
  const all = [...commands.value.values()].filter(({ keys }) => keys).map(({ label, keys }) => [label, keys]);
  return html`
    <${Dialog} title="Keyboard shortcuts" close=${() => { open.value = false; }}>
      <dl class="keys">
        ${[...all, ...OTHERS].map(([label, keys]) => html`
          <${Fragment} key=${label}><dt>${label}</dt><dd><${Keys} keys=${keys} /></dd><//>`)}
      </dl>
      <label class="check">
        <input type="checkbox" checked=${keysOn.value === 'on'}
          onChange=${(event) => { keysOn.value = event.target.checked ? 'on' : 'off'; }} />
        Use keyboard shortcuts
      </label>
    <//>`;
}
