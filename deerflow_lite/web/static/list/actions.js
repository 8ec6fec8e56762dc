// What is done to chats from the list: file away, restore, pin, rename, delete; each at once, undone where it fails.
// A deletion is sent when its note has gone, or the page is left: until then it can be taken back.

import { ApiError, patch, post, remove, sentence, threadPath } from '../api.js';
import { effect, untracked } from '../html.js';
import { amended } from '../opened.js';
import { go, route } from '../route.js';
import { toast } from '../toast.js';
import { isPinned, titleOf } from './order.js';
import { drop, hidden, put, recount, refresh } from './rows.js';

/** Archive chats, or restore them; a note says so and offers to undo it. */
export async function file(rows, archived) {
  if (await filed(rows, archived)) {
    const undo = { label: 'Undo', run: () => filed(rows.map((row) => flagged(row, archived)), !archived) };
    toast(`${archived ? 'Archived' : 'Restored'} ${named(rows)}`, { action: undo });
  }
}

/** Pin a chat to the top of the list, or let it go. */
export async function pin(row, pinned = !isPinned(row)) {
  const metadata = { ...row.metadata, deerflow_pinned: pinned };
  settle({ ...row, metadata });
  await saved(row, () => patch(threadPath(row.thread_id), { metadata: { deerflow_pinned: pinned } }));
}

/** Give a chat a title; gives null, or why the service refuses it. */
export async function rename(row, title) {
  try {
    const thread = await patch(threadPath(row.thread_id), { title });
    settle({ ...row, title: thread.title, updated_at: thread.updated_at });
    return null;
  } catch (error) {
    return sentence(error);
  }
}

/** Delete chats: hidden at once, gone when the note ends. */
export function discard(rows) {
  const ids = new Set(rows.map((row) => row.thread_id));
  hidden.value = new Map([...hidden.peek(), ...rows.map((row) => [row.thread_id, row])]);
  if (ids.has(route.peek().id)) go('/chats', { replace: true });
  const note = { rows, ended: () => {} };
  note.ended = toast(`Deleted ${named(rows)}`, {
    action: { label: 'Undo', run: () => takenBack(note) },
    over: () => sent(note),
  });
  waiting.add(note);
}

const waiting = new Set();

function takenBack(note) {
  waiting.delete(note);
  unhide(note.rows);
}

async function sent(note, { keepalive = false } = {}) {
  if (!waiting.delete(note)) return;
  await Promise.all(note.rows.map(async (row) => {
    try {
      await remove(threadPath(row.thread_id), { keepalive });
    } catch (error) {
      if (error.status !== 404) return unhideWith(row, error);
    }
    drop(row.thread_id);
    return unhide([row]);
  }));
  recount();
}

function unhideWith(row, error) {
  unhide([row]);
  toast(`“${titleOf(row)}” was not deleted. ${sentence(error)}`, { kind: 'error' });
}

function unhide(rows) {
  const ids = new Set(rows.map((row) => row.thread_id));
  hidden.value = new Map([...hidden.peek()].filter(([id]) => !ids.has(id)));
}

async function filed(rows, archived) {
  rows.forEach((row) => settle(flagged(row, archived)));
  const ids = rows.map((row) => row.thread_id);
  return saved(rows, () => post('/threads/archive', { thread_ids: ids, archived }));
}

/** Save what is already shown; where that fails, the rows are shown as they were. */
async function saved(rows, save) {
  try {
    await save();
    return true;
  } catch (error) {
    [rows].flat().forEach(settle);
    toast(sentence(error), { kind: 'error' });
    if (error instanceof ApiError && error.status === 404) refresh();
    return false;
  } finally {
    recount();
  }
}

function settle(row) {
  put(row);
  amended(row.thread_id, { metadata: row.metadata, title: row.title, updated_at: row.updated_at });
}

const flagged = (row, archived) => ({ ...row, metadata: { ...row.metadata, deerflow_archived: archived } });
const named = (rows) => (rows.length === 1 ? `“${titleOf(rows[0])}”` : `${rows.length} chats`);

addEventListener('pagehide', () => { for (const note of waiting) sent(note, { keepalive: true }); });

// Whoever opens a chat again wants to keep it.
effect(() => {
  const { id } = route.value;
  untracked(() => {
    for (const note of [...waiting].filter(({ rows }) => rows.some((row) => row.thread_id === id))) {
      takenBack(note);
      note.ended();
    }
  });
});
