// A message whose run ended before anything of it was stored: no turn holds it, the list of runs does.
// Nothing here draws.

import { get, threadPath } from '../api.js';
import { isQuestion, sent } from './said.js';

const UNDONE = ['error', 'timeout', 'interrupted'];

/** Read the newest run of a chat; undefined where there is none. */
export async function newestRun(talk) {
  const [run] = await get(threadPath(talk.id.peek(), '/runs?limit=1'), { signal: talk.closing.signal });
  return run;
}

/** Give the newest run where it is such a one, null where it is not. */
export async function lostRun(talk, run, turns) {
  if (!run || !UNDONE.includes(run.status) || !questions(run).length || stands(run, turns)) return null;
  const tree = await get(threadPath(talk.id.peek(), '/tree'), { signal: talk.closing.signal });
  return stands(run, tree.turns) ? null : run;
}

/** What a user asked in a run. */
export const questions = (run) => sent(run.kwargs?.input?.messages).filter(isQuestion);
const replays = ({ metadata }) => metadata?.regenerate_from_run_id ?? metadata?.edit_from_run_id;
const stands = (run, turns) => Boolean(replays(run)) || turns.some((turn) => turn.run_id === run.run_id);
