// The chat that is open: its thread as the service has it, or why it cannot be shown.
// Its messages are the conversation's; the list has rows of its own and is told of every change here.

import { effect, signal, untracked } from './html.js';
import { ApiError, aborted, post } from './api.js';
import { route } from './route.js';

/** `{state: 'none' | 'loading' | 'ready' | 'missing' | 'failed', id, thread, error}`. */
export const opened = signal({ state: 'none', id: null, thread: null, error: null });

const FIELDS = ['thread_id', 'title', 'status', 'updated_at', 'metadata', 'head_checkpoint_id', 'interrupts', 'error'];
const listeners = new Set();
let asking = null;
let looking = null;

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

/** Ask for a thread without the values of its head, which may be large; null where there is none. */
export async function lookedUp(id, signal) {
  const [thread] = await post('/threads/search', { ids: [id], select: FIELDS, limit: 1 }, { signal });
  return thread ?? null;
}

/** The thread that is being opened, once it was looked up; null where none is, or another one. */
export const opening = (id) => (opened.peek().state === 'loading' && opened.peek().id === id ? looking : null);

/** Ask again for the chat that the address names. */
export function reopen() {
  open(route.peek().id);
}

const ready = (thread) => ({ state: 'ready', id: thread.thread_id, thread, error: null });

async function open(id) {
  asking?.abort();
  asking = new AbortController();
  looking = id === null ? null : lookedUp(id, asking.signal);
  opened.value = { state: id === null ? 'none' : 'loading', id, thread: null, error: null };
  if (id === null) return;
  try {
    const thread = await looking;
    if (!thread) throw new ApiError(404, 'There is no such chat.');
    opened.value = ready(thread);
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
