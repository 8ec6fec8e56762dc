// Which rows are chosen, so that one act takes them all; with Shift, everything between two of them.
// It does nothing to a chat.

import { signal } from '../html.js';

/** True while rows are being chosen. */
export const choosing = signal(false);
/** The ids that are chosen. */
export const chosen = signal(new Set());
let anchor = null;

/** Begin to choose, with this row where one is given. */
export function choose(id = null) {
  choosing.value = true;
  chosen.value = new Set(id === null ? [] : [id]);
  anchor = id;
}

/** Choose nothing any more. */
export function chooseNone() {
  choosing.value = false;
  chosen.value = new Set();
  anchor = null;
}

/** Choose all of these, or none where all are chosen already. */
export function chooseAll(rows) {
  const all = rows.every(({ thread_id: id }) => chosen.peek().has(id));
  chosen.value = new Set(all ? [] : rows.map(({ thread_id: id }) => id));
}

/** Choose a row or let it go; with `range` everything from the last one that was touched becomes as this one. */
export function toggle(rows, id, range) {
  const ids = rows.map((row) => row.thread_id);
  const [from, to] = [ids.indexOf(anchor), ids.indexOf(id)].sort((a, b) => a - b);
  const next = new Set(chosen.peek());
  const wanted = !next.has(id);
  for (const each of range && from >= 0 ? ids.slice(from, to + 1) : [id]) {
    if (wanted) next.add(each);
    else next.delete(each);
  }
  chosen.value = next;
  anchor = id;
}
