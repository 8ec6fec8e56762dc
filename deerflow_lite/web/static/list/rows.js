// The two lists, Recent and Archived: the pages that were loaded, in the service's order, kept true by what happens.
// It draws nothing. Every row stands once; a page that was asked for before a change does not undo the change.

import { batch, computed, effect, signal, untracked } from '../html.js';
import { aborted, ask, post } from '../api.js';
import { onChange } from '../opened.js';
import { compare, isArchived, placed, refreshed, titleOf, without } from './order.js';
import { noted } from './unread.js';

export const TABS = { recent: false, archived: true };
const PAGE = 50;
const SELECT = ['thread_id', 'title', 'status', 'metadata', 'updated_at', 'interrupts'];
const UNREAD = { rows: [], cursor: null, complete: false, loading: false, error: null, started: false };

/** The words that titles are searched for; "" is everything. */
export const query = signal('');
/** `{recent, archived}`: how many there are, null until it is known. */
export const counts = signal({ recent: null, archived: null });
/** Ids of rows that are not shown: their deletion may still be taken back. */
export const hidden = signal(new Map());

const lists = { recent: signal(UNREAD), archived: signal(UNREAD) };
const changes = new Map();
let change = 0;
let asking = new AbortController();

/** Give a list: `{rows, complete, loading, error, started}`, without the hidden rows. */
export const shown = Object.fromEntries(Object.keys(TABS).map((tab) => [tab, computed(() => {
  const list = lists[tab].value;
  return { ...list, rows: list.rows.filter((row) => !hidden.value.has(row.thread_id)) };
})]));

/** Give the row of an id where it is loaded. */
export const rowOf = (id) => [lists.recent, lists.archived]
  .flatMap((list) => list.peek().rows).find((row) => row.thread_id === id);

/** Give the rows of the list that a row stands in. */
export const listOf = (row) => shown[isArchived(row) ? 'archived' : 'recent'].peek().rows;

/** Load the next page of a list; nothing where one is on its way or none is left. */
export async function more(tab) {
  const list = lists[tab].peek();
  if (list.loading || list.complete) return;
  lists[tab].value = { ...list, loading: true, error: null, started: true };
  await paged(tab, list.cursor, ({ rows, complete }, page, cursor) => {
    const known = new Set(rows.map((row) => row.thread_id));
    const fresh = page.filter((row) => !known.has(row.thread_id));
    return { rows: [...rows, ...fresh].sort(compare), cursor, complete: complete || cursor === null };
  });
}

/** Ask for the first page again and for the numbers: what others did is seen, what was loaded stays. */
export async function refresh() {
  recount();
  await Promise.all(Object.keys(TABS).filter((tab) => lists[tab].peek().started).map((tab) => {
    if (lists[tab].peek().loading) return null;
    lists[tab].value = { ...lists[tab].peek(), loading: true, error: null };
    return paged(tab, null, refreshed);
  }));
}

/** Put a row where it now belongs, in whichever list. */
export function put(row) {
  noted(rowOf(row.thread_id), row);
  changes.set(row.thread_id, { at: ++change, row });
  batch(() => {
    for (const [tab, archived] of Object.entries(TABS)) {
      const list = lists[tab].peek();
      if (!list.started) continue;
      const rows = belongs(row, archived)
        ? placed(list.rows, row, list.complete) : without(list.rows, row.thread_id);
      lists[tab].value = { ...list, rows };
    }
  });
}

/** Take a row out: it is no more. */
export function drop(id) {
  changes.set(id, { at: ++change, row: null });
  for (const list of Object.values(lists)) list.value = { ...list.peek(), rows: without(list.peek().rows, id) };
}

/** Ask how many there are in each list. */
export async function recount() {
  const { signal: stop } = asking;
  try {
    const numbers = await Promise.all(Object.values(TABS).map((archived) =>
      post('/threads/count', { archived, ...filter() }, { signal: stop })));
    counts.value = { recent: numbers[0], archived: numbers[1] };
  } catch (error) {
    if (!aborted(error)) counts.value = { recent: null, archived: null };
  }
}

const filter = () => (query.peek() ? { query: query.peek() } : {});
const matches = (row) => titleOf(row).toLowerCase().includes(query.peek().toLowerCase());
const belongs = (row, archived) => isArchived(row) === archived && matches(row);
const unchangedSince = (began) => (row) => (changes.get(row.thread_id)?.at ?? 0) <= began;

async function paged(tab, cursor, join) {
  const began = change;
  const { signal: stop } = asking;
  const body = { archived: TABS[tab], limit: PAGE, select: SELECT, ...filter(), ...(cursor ? { cursor } : {}) };
  try {
    const { data, headers } = await ask('POST', '/threads/search', body, { signal: stop });
    const list = lists[tab].peek();
    data.forEach((row) => noted(rowOf(row.thread_id), row));
    const joined = join(list, data.filter(unchangedSince(began)), headers.get('X-Next-Cursor'));
    lists[tab].value = { ...list, ...joined, rows: withChanges(joined, tab, began), loading: false };
  } catch (error) {
    if (!aborted(error)) lists[tab].value = { ...lists[tab].peek(), loading: false, error };
  }
}

function withChanges({ rows, complete }, tab, began) {
  const later = [...changes.values()].filter(({ at, row }) => at > began && row && belongs(row, TABS[tab]));
  return later.reduce((all, { row }) => placed(all, row, complete), rows);
}

/** Ask about the rows that are being answered, so that their marks are true. */
export async function recheck() {
  for (const [tab, archived] of Object.entries(TABS)) {
    const busy = lists[tab].peek().rows.filter(({ status }) => status === 'busy');
    if (!busy.length) continue;
    const began = change;
    const ids = busy.map((row) => row.thread_id);
    const found = await post('/threads/search', { archived, ids, select: SELECT, limit: ids.length });
    found.filter(unchangedSince(began)).forEach(put);
    for (const row of busy.filter(unchangedSince(began))) {
      if (!found.some((each) => each.thread_id === row.thread_id)) drop(row.thread_id);
    }
  }
}

effect(() => {
  query.value;
  untracked(() => {
    asking.abort();
    asking = new AbortController();
    const started = Object.keys(TABS).filter((tab) => lists[tab].peek().started);
    for (const list of Object.values(lists)) list.value = UNREAD;
    recount();
    started.forEach(more);
  });
});

onChange((thread) => {
  const before = rowOf(thread.thread_id);
  put(Object.fromEntries(SELECT.map((name) => [name, thread[name]])));
  if (!before || isArchived(before) !== isArchived(thread) || titleOf(before) !== titleOf(thread)) recount();
});
