// Chats that were answered while another one was open: marked until they are opened, in every tab of this browser.
// It asks nothing; the rows tell.

import { computed, effect } from '../html.js';
import { opened } from '../opened.js';
import { keptSignal } from '../storage.js';

const MOST = 100;
const kept = keptSignal('unread', '');

/** The ids of these chats. */
export const unread = computed(() => new Set(kept.value.split(' ').filter(Boolean)));

/** Take in what has become of a row. */
export function noted(before, row) {
  const id = row.thread_id;
  if (before?.status !== 'busy' || row.status === 'busy' || id === opened.peek().id) return;
  kept.value = [...new Set([...unread.peek(), id])].slice(-MOST).join(' ');
}

effect(() => {
  const { id } = opened.value;
  if (unread.value.has(id)) kept.value = [...unread.value].filter((one) => one !== id).join(' ');
});
