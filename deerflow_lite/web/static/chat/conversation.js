// One conversation as the page holds it: the turns of its selected path, what is known of its thread, its live turn.
// It reads; what changes a conversation is in verbs.js. Nothing here draws.

import { batch, computed, signal } from '../html.js';
import { get, threadPath } from '../api.js';
import { changed, lookedUp, opened, opening, reopen } from '../opened.js';
import { lostRun, newestRun } from './lost.js';
import { explained } from './reasons.js';
import { same } from './turns.js';

const PAGE = 25; // turns: about fifty messages
const MOST = 200;

let current = null;
let count = 0;

/** Give the conversation of a thread, a new one for null; the one that is open stays what it is. */
export function talkOf(threadId) {
  if (current && current.id.peek() === threadId && !current.closing.signal.aborted) return current;
  current?.closing.abort();
  current = conversation(threadId);
  return current;
}

function conversation(threadId) {
  const starting = signal(false);
  const live = signal(null);
  return {
    key: ++count,
    starting, live,
    busy: computed(() => starting.value || live.value !== null),
    id: signal(threadId),
    thread: signal(null),
    turns: signal([]),
    more: signal(false),
    tree: signal(null),
    loaded: signal(threadId === null),
    failure: signal(null),
    trouble: signal(null),
    lost: signal(null),
    reasons: signal(new Map()),
    said: signal(''),
    panel: signal(null),
    visited: new Map(),
    closing: new AbortController(),
  };
}

/** Read the thread's row; null where it does not exist. */
export const looked = (talk) => lookedUp(talk.id.peek(), talk.closing.signal);

/**
 * Read the thread and the newest turns of its path anew; `through` is a turn that must be among them. The live turn
 * gives way to what is stored in the same moment.
 */
export async function reload(talk, through = null) {
  const live = talk.live.peek();
  const thread = opening(talk.id.peek()) ?? looked(talk);
  const [row, page, run] = await Promise.all([thread, newest(talk, through), newestRun(talk)]);
  const lost = await lostRun(talk, run, page.turns);
  batch(() => {
    talk.lost.value = lost;
    talk.thread.value = row;
    talk.turns.value = page.turns;
    talk.more.value = page.more;
    if (talk.live.peek() === live) talk.live.value = null;
    talk.failure.value = null;
    talk.loaded.value = true;
  });
  if (!row) reopen();
  else if (row !== opened.peek().thread) changed(row);
  await Promise.all([forked(talk), explained(talk)]);
}

async function newest(talk, through) {
  const before = talk.turns.peek();
  let { turns, has_more: more } = await paged(talk, PAGE);
  const wanted = (turn) => through === null || turn.turn_id === through;
  for (;;) {
    const place = turns.length ? before.findIndex((turn) => turn.turn_id === turns[0].turn_id) : -1;
    if (place >= 0) return joined(before, place, turns, place > 0 ? talk.more.peek() : more);
    if (!more || turns.some(wanted)) return { turns: turns.map((turn) => same(before, turn)), more };
    const older = await paged(talk, MOST, turns[0].turn_id);
    turns = [...older.turns, ...turns];
    more = older.has_more;
  }
}

const joined = (before, place, turns, more) =>
  ({ turns: [...before.slice(0, place), ...turns.map((turn) => same(before, turn))], more });

/** Read the turns before those that are shown. */
export async function older(talk) {
  const [first] = talk.turns.peek();
  if (!first || !talk.more.peek()) return;
  const page = await paged(talk, PAGE, first.turn_id);
  if (talk.turns.peek()[0] !== first) return;
  batch(() => {
    talk.turns.value = [...page.turns, ...talk.turns.peek()];
    talk.more.value = page.has_more;
  });
  await Promise.all([forked(talk), explained(talk)]);
}

function paged(talk, limit, before = null) {
  const query = new URLSearchParams({ limit, ...(before && { before }) });
  return get(threadPath(talk.id.peek(), `/turns?${query}`), { signal: talk.closing.signal });
}

/**
 * Read the tree where a turn that is shown has others beside it: the switcher asks which of them can be gone to. While
 * the tree itself is shown it is read there.
 */
async function forked(talk) {
  if (talk.panel.peek() === 'tree') return;
  if (talk.turns.peek().some((turn) => turn.sibling_count > 1)) await branched(talk);
  else talk.tree.value = null;
}

/** Read the whole tree, with the first words of each turn where it is shown. */
export async function branched(talk) {
  const texts = talk.panel.peek() === 'tree';
  talk.tree.value = await get(threadPath(talk.id.peek(), `/tree?texts=${texts}`), { signal: talk.closing.signal });
}
