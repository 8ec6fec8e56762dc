// What this browser remembers between visits; where storage is switched off, until the page is left.
// Nothing here is needed to read or to write a chat.

import { signal } from './html.js';

const spare = new Map();

/** Give the text kept under a name, null where there is none. */
export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return spare.get(name) ?? null;
  }
}

/** Keep a text under a name; null forgets it. */
export function keep(name, text) {
  try {
    if (text === null) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    if (text === null) spare.delete(name);
    else spare.set(name, text);
  }
}

/** A signal whose text is kept; other tabs follow. */
export function keptSignal(name, otherwise) {
  const made = signal(kept(name) ?? otherwise);
  made.subscribe((value) => { if (value !== (kept(name) ?? otherwise)) keep(name, value); });
  addEventListener('storage', (event) => { if (event.key === name) made.value = event.newValue ?? otherwise; });
  return made;
}
