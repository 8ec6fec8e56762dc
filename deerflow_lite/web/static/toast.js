// Short notes that go away by themselves, some with an action; they wait while the pointer or the focus is on them.
// What a note is about, and what its end means, is its maker's.

import { html, signal, useEffect, useRef, useState } from './html.js';
import { Icon } from './icons.js';

const MOST = 3;
const STAY = 8000;

const toasts = signal([]);
let number = 0;

/**
 * Show a note. `action` is `{label, run}`; `over` is called once when the note goes without its action having been
 * chosen. Gives the function that ends it early.
 */
export function toast(text, { action = null, over = () => {}, kind = 'plain' } = {}) {
  const note = { key: ++number, text, action, over, kind };
  toasts.value = [...toasts.peek(), note];
  toasts.peek().slice(0, -MOST).forEach(ended);
  return () => ended(note);
}

/** The newest note's action, null where there is none. */
export const lastAction = () => {
  const note = toasts.value.findLast(({ action }) => action);
  return note ? { label: note.action.label, run: () => chosen(note) } : null;
};

function gone(note) {
  const there = toasts.peek().includes(note);
  toasts.value = toasts.peek().filter((each) => each !== note);
  return there;
}

function ended(note) {
  if (gone(note)) note.over();
}

function chosen(note) {
  if (gone(note)) note.action.run();
}

function Toast({ note }) {
  const [held, hold] = useState(false);
  const left = useRef(STAY);
  useEffect(() => {
    if (held) return undefined;
    const began = performance.now();
    const timer = setTimeout(() => ended(note), left.current);
    return () => { clearTimeout(timer); left.current = Math.max(1500, left.current - (performance.now() - began)); };
  }, [held]);
  return html`
    <li class="toast" data-kind=${note.kind} onPointerEnter=${() => hold(true)} onPointerLeave=${() => hold(false)}
      onFocusIn=${() => hold(true)} onFocusOut=${() => hold(false)}>
      <span class="toast-text" dir="auto">${note.text}</span>
      ${note.action && html`
        <button class="toast-action" aria-keyshortcuts="Control+Z" onClick=${() => chosen(note)}>
          ${note.action.label}
        </button>`}
      <button class="ghost" aria-label="Dismiss" onClick=${() => ended(note)}><${Icon} name="close" /></button>
    </li>`;
}

/** Draw the notes; the newest stands last. */
export const Toasts = () => html`
  <section class="toasts" aria-label="Notes">
    <div role="status" aria-relevant="additions">
      <ol>${toasts.value.map((note) => html`<${Toast} key=${note.key} note=${note} />`)}</ol>
    </div>
  </section>`;
