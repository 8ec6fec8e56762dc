// The chat that is open: its thread as the service has it, or why it cannot be shown.
// Its messages are the conversation's; the list has rows of its own and is told of every change here.

import { effect, signal, untracked } from './html.js';
import { aborted, get, threadPath } from './api.js';
import { route } from './route.js';

/** `{state: 'none' | 'loading' | 'ready' | 'missing' | 'failed', id, thread, error}`. */
export const opened = signal({ state: 'none', id: null, thread: null, error: null });

const listeners = new Set();
let asking = null;

/** Be told of every thread that has changed or is new; gives the function that ends it. */
export function onChange(listen) {
  listeners.add(listen);
  return () => listeners.delete(listen);
}

/** Say that a thread now is as given; the list and the header follow at once. */
export function changed(thread) {
  if (opened.peek().id === thread.thread_id) opened.value = ready(thread);
  for (const listen of listeners) listen(thread);
}

/** Say that these fields of a thread have changed; nothing where it is not the open one. */
export function amended(id, fields) {
  const { thread } = opened.peek();
  if (thread?.thread_id === id) opened.value = ready({ ...thread, ...fields });
}

/** Ask for a thread again, after a run or a change of head, and tell everybody. */
export async function refreshed(id) {
  changed(await get(threadPath(id)));
}

/** Ask again for the chat that the address names. */
export function reopen() {
  open(route.peek().id);
}

const ready = (thread) => ({ state: 'ready', id: thread.thread_id, thread, error: null });

async function open(id) {
  asking?.abort();
  asking = new AbortController();
  opened.value = { state: id === null ? 'none' : 'loading', id, thread: null, error: null };
  if (id === null) return;
  try {
    opened.value = ready(await get(threadPath(id), { signal: asking.signal }));
  } catch (error) {
    if (aborted(error)) return;
    const missing = error.status === 404 || error.status === 422;
    opened.value = { state: missing ? 'missing' : 'failed', id, thread: null, error };
  }
}

effect(() => {
  const { id } = route.value;
  untracked(() => { if (id !== opened.value.id) open(id); });
});
