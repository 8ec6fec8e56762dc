// Follows a run to its end: one stream, open only while the tab is seen, taken up again after the last event.
// What the events mean is live.js's; where they lead is told to the conversation.

import { aborted, get, threadPath } from '../api.js';
import { followed } from '../events.js';
import { changed, reopen } from '../opened.js';
import { looked, reload } from './conversation.js';
import { liveOf, take } from './live.js';

const GLANCE = 4000;
const READ = ['messages-tuple', 'messages', 'values', 'custom'];

/** Follow a live turn from `events` on, then show what was stored; throws where the run was not taken in. */
export async function follow(talk, turn, events = null) {
  let stream = events;
  while (!turn.ended) {
    await visible(talk.closing.signal);
    const watch = watched(talk, turn);
    try {
      const told = stream ? stream(watch.signal) : resumed(talk, turn, watch.signal);
      for await (const event of told) {
        take(turn, event);
        if (event.event === 'metadata') tell(talk);
      }
    } catch (error) {
      if (talk.closing.signal.aborted || !aborted(error)) throw error;
    } finally {
      watch.over();
    }
    stream = null;
  }
}

/** Tell the list that the thread is being answered. */
async function tell(talk) {
  const thread = await looked(talk).catch(() => null); // the list finds out by itself as well
  if (thread) changed(thread);
}

const resumed = (talk, turn, signal) =>
  followed(talk.id.peek(), turn.runId, { after: turn.last, streamMode: READ, signal });

/** A signal that ends the stream when the tab is hidden, not before the run has a name to come back to. */
function watched(talk, turn) {
  const stop = new AbortController();
  const closed = () => stop.abort();
  const hidden = () => document.hidden && turn.runId && stop.abort();
  talk.closing.signal.addEventListener('abort', closed);
  document.addEventListener('visibilitychange', hidden);
  const over = () => {
    talk.closing.signal.removeEventListener('abort', closed);
    document.removeEventListener('visibilitychange', hidden);
    stop.abort();
  };
  return { signal: stop.signal, over };
}

function visible(closing) {
  if (!document.hidden) return Promise.resolve();
  return new Promise((seen, gone) => {
    const look = () => document.hidden || (document.removeEventListener('visibilitychange', look), seen());
    document.addEventListener('visibilitychange', look);
    closing.addEventListener('abort', () => gone(closing.reason), { once: true });
  });
}

/** Follow the run that somebody started on the thread, another tab or another program; says whether there was one. */
export async function join(talk) {
  const run = await active(talk);
  if (!run || talk.busy.peek()) return false;
  const turn = liveOf(run, talk.turns.peek());
  talk.live.value = turn;
  await followToEnd(talk, turn);
  return true;
}

/** Follow a live turn whose run goes on anyway; a stream that is refused gives way to what is stored. */
export async function followToEnd(talk, turn, events = null) {
  await follow(talk, turn, events);
  await reload(talk);
}

async function active(talk) {
  for (const status of ['running', 'pending']) {
    const path = threadPath(talk.id.peek(), `/runs?status=${status}&limit=1`);
    const [run] = await get(path, { signal: talk.closing.signal });
    if (run) return run;
  }
  return null;
}

/** Look at the thread now and then while it is seen, and follow what happens to it elsewhere. */
export function watch(talk) {
  const look = () => document.hidden || glance(talk).catch(() => {}); // the next glance may reach the service again
  const timer = setInterval(look, GLANCE);
  document.addEventListener('visibilitychange', look);
  look();
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', look);
  };
}

async function glance(talk) {
  if (talk.id.peek() === null) return;
  if (talk.failure.peek()) await reload(talk); // what could not be read once may be read now
  if (!talk.loaded.peek() || talk.busy.peek()) return;
  const before = talk.thread.peek();
  const thread = await looked(talk);
  if (talk.busy.peek() || talk.thread.peek() !== before) return;
  if (!thread) reopen();
  else if (thread.status === 'busy') await join(talk);
  else if (!before || moved(before, thread)) await reload(talk);
  else talk.thread.value = thread;
}

const moved = (before, thread) =>
  before.head_checkpoint_id !== thread.head_checkpoint_id || before.status !== thread.status;
