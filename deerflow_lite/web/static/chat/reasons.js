// Why runs of earlier turns failed: their rows know, the turns do not. It is asked for where such a turn is shown.
// Nothing here draws.

import { get, threadPath } from '../api.js';

const FAILED = ['error', 'timeout'];

/** Read why the turns that are shown have failed, those that are not known yet. */
export async function explained(talk) {
  const known = talk.reasons.peek();
  const turns = talk.turns.peek().filter((turn) => turn.status === 'failed' && !known.has(turn.run_id));
  if (!turns.length) return;
  const pages = await Promise.all(FAILED.map((status) => ended(talk, status)));
  const unknown = turns.map((turn) => [turn.run_id, null]);
  talk.reasons.value = new Map([...known, ...unknown, ...pages.flat().map((run) => [run.run_id, run.error])]);
}

function ended(talk, status) {
  const path = threadPath(talk.id.peek(), `/runs?status=${status}&limit=100&select=run_id&select=error`);
  return get(path, { signal: talk.closing.signal });
}
