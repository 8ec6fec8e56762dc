// What may be done with a turn, and which turns stand beside it; pure functions over the API's JSON.
// The rules are the service's own: where it would refuse, the page says why before it is asked.

import { lastAnswer, openCall } from './said.js';

/** Keep the object of a turn that is as it was, so that it is not drawn again. */
export function same(before, turn) {
  const old = before.find((one) => one.turn_id === turn.turn_id);
  return old && SHOWN.every((name) => String(old[name]) === String(turn[name])) ? old : turn;
}

const SHOWN = [
  'message_ids', 'checkpoint_id', 'status', 'sibling_index', 'sibling_count', 'parent_turn_id', 'human_message_id',
];

/** The turns beside a turn, in the order in which they were made: those that can be gone to, itself among them. */
export function choices(tree, turn) {
  const beside = siblings(tree, turn);
  const can = beside.filter((one) => one.turn_id === turn.turn_id || leafOf(tree, one));
  return { can, left: beside.filter((one) => !can.includes(one)) };
}

function siblings(tree, turn) {
  const beside = (tree?.turns ?? []).filter(
    (one) => one.parent_turn_id === turn.parent_turn_id && one.base_checkpoint_id === turn.base_checkpoint_id
      && one.sibling_count === turn.sibling_count,
  );
  return beside.toSorted((one, other) => one.sibling_index - other.sibling_index);
}

/** Where to stand to see a turn: the end last seen behind it, else the newest end that can be stood on. */
export function leafOf(tree, turn, visited = new Map()) {
  const behind = descendants(tree, turn).filter((one) => one.status === 'done');
  const remembered = behind.find((one) => one.turn_id === visited.get(turn.turn_id));
  return remembered ?? behind.reduce((best, one) => (best && best.created_at > one.created_at ? best : one), null);
}

/** A turn and all that came after it, on every branch. */
export function descendants(tree, turn) {
  const found = new Set([turn.turn_id]);
  // Turns stand behind their parents, so that one pass finds them all.
  for (const one of tree.turns) if (found.has(one.parent_turn_id)) found.add(one.turn_id);
  return tree.turns.filter((one) => found.has(one.turn_id));
}

/** Whether the graph of a thread waits for an answer. */
export const waits = (thread) => Object.values(thread?.interrupts ?? {}).flat().length > 0;

const BUSY = 'Wait for the answer, or stop it';
const OPEN = 'A tool was called and has not answered';

/** Why a turn cannot be regenerated; null where it can. */
export function noRegenerate(turn, busy) {
  if (busy) return BUSY;
  if (!lastAnswer(turn.messages)) return 'There is no answer yet';
  return openCall(turn.messages) ? OPEN : null;
}

/** Why a question cannot be edited; null where it can. */
export function noEdit(turn, busy) {
  if (busy) return BUSY;
  return openCall(turn.messages) ? OPEN : null;
}

/** Why no chat can branch off from a turn; null where one can. */
export function noBranch(turn) {
  if (turn.status !== 'done' || !lastAnswer(turn.messages)) return 'Only a finished answer can be branched from';
  return null;
}
