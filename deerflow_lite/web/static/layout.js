// Whether the list is shown: beside the conversation where there is room, over it on a narrow screen.
// It draws nothing.

import { computed, signal } from './html.js';
import { keptSignal } from './storage.js';

const narrowQuery = matchMedia('(max-width: 760px)');
const tightQuery = matchMedia('(max-width: 1000px)');
const beside = keptSignal('list', 'shown');
const over = signal(narrowQuery.matches && location.pathname.startsWith('/chats/archived'));

export const narrow = signal(narrowQuery.matches);
/** True where a list, a conversation and a panel do not fit beside each other. */
export const tight = signal(tightQuery.matches);
tightQuery.addEventListener('change', () => { tight.value = tightQuery.matches; });
narrowQuery.addEventListener('change', () => { narrow.value = narrowQuery.matches; over.value = false; });

/** True while the list is shown. */
export const drawer = computed(() => (narrow.value ? over.value : beside.value === 'shown'));

/** Show the list, or hide it. */
export function toggleList() {
  if (narrow.value) over.value = !over.value;
  else beside.value = drawer.value ? 'hidden' : 'shown';
}

/** Hide the list where it covers the conversation. */
export function uncover() {
  over.value = false;
}
