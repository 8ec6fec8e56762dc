// The turn that is being answered: where it stands, what came so far, how it ended; it asks nothing of the service.
// Events are laid in as they come; `seen` moves once a frame, so that drawing keeps pace with any stream.

import { signal } from '../html.js';
import { grown, hidden, isAnswer, isQuestion, sent } from './said.js';

/** The modes a run is asked for: tokens as they come. What a step made stands in the store when the run has ended. */
export const MODES = ['messages-tuple', 'custom'];

/**
 * A live turn in place of the turn number `place`. `messages` are those that stand already (a question that was
 * answered, a try that goes on); `known` are the ids of the messages of the turns before it.
 */
export function live({ place, key, question, messages = [], known = new Set(), runId = null }) {
  return {
    place, key, question, known, runId,
    messages: new Map(messages.map((message) => [message.id, message])),
    touched: new Set(),
    last: null,
    ended: false,
    error: null,
    note: null,
    away: false,
    stopping: signal(false),
    seen: signal(0),
  };
}

/** Lay an event into the turn; of an unknown kind it is passed over. */
export function take(turn, { id, event, data }) {
  turn.last = id ?? turn.last;
  KINDS[event]?.(turn, data);
  shown(turn);
}

const KINDS = {
  metadata: (turn, data) => { turn.runId = data.run_id; },
  messages: (turn, [message]) => lay(turn, message),
  'messages/partial': (turn, messages) => messages.forEach((message) => put(turn, message)),
  'messages/complete': (turn, messages) => messages.forEach((message) => put(turn, message)),
  values: (turn, data) => stored(turn, data),
  custom: (turn, data) => { turn.note = noted(data); },
  error: (turn, data) => { turn.error = data; },
  end: (turn) => { turn.ended = true; },
  away: (turn) => { turn.away = true; },
  back: (turn) => { turn.away = false; },
};

function lay(turn, message) {
  if (message.type === 'human') return;
  const before = turn.messages.get(message.id);
  const first = !turn.touched.has(message.id);
  turn.touched.add(message.id);
  // The stream is read from its beginning: what the store held of a message already comes again.
  const whole = first || message.type !== 'AIMessageChunk' || before?.type !== 'AIMessageChunk';
  turn.messages.set(message.id, whole ? message : grown(before, message));
}

function put(turn, message) {
  if (message.type !== 'human') turn.messages.set(message.id, message);
}

function stored(turn, values) {
  const messages = Array.isArray(values?.messages) ? values.messages : [];
  for (const message of messages.filter((one) => !turn.known.has(one.id))) {
    put(turn, message);
    turn.touched.add(message.id);
  }
}

/** What a graph says on the way, as one line. */
function noted(data) {
  const text = typeof data === 'string' ? data : data?.message ?? data?.text ?? data?.status ?? data?.progress;
  return typeof text === 'string' ? text : JSON.stringify(data);
}

const waiting = new WeakSet();

function shown(turn) {
  if (waiting.has(turn)) return;
  waiting.add(turn);
  requestAnimationFrame(() => {
    waiting.delete(turn);
    turn.seen.value += 1;
  });
}

/** The messages that answer so far, those that people see. */
export const answered = (turn) =>
  [...turn.messages.values()].filter((message) => !isQuestion(message) && !hidden(message));

/** Whether any word of an answer has come. */
export const begun = (turn) => [...turn.messages.values()].some(isAnswer);

/** The live turn of a run that somebody started, among the turns of the selected path. */
export function liveOf(run, turns) {
  const place = placeOf(run, turns);
  const own = turns[place]?.run_id === run.run_id || goesOn(run) ? turns[place] : null;
  const given = own ? own.messages : sent(run.kwargs?.input?.messages);
  const again = turns[place]?.messages ?? [];
  const asked = given.filter(isQuestion);
  return live({
    place,
    key: keyAt(turns, place),
    question: asked.length ? asked : again.filter(isQuestion),
    messages: own && goesOn(run) ? own.messages : [],
    known: knownBefore(turns, place),
    runId: run.run_id,
  });
}

const goesOn = (run) => !run.kwargs?.input;

function placeOf(run, turns) {
  const target = run.metadata?.regenerate_from_run_id ?? run.metadata?.edit_from_run_id;
  const replaced = turns.findIndex((turn) => turn.turn_id === target || turn.run_id === run.run_id);
  if (replaced >= 0) return replaced;
  if (goesOn(run)) return Math.max(turns.length - 1, 0);
  const from = turns.findIndex((turn) => turn.checkpoint_id === run.kwargs?.checkpoint_id);
  return from >= 0 ? from + 1 : turns.length;
}

/** What a turn is drawn under: its parent, so that answers beside each other take each other's place. */
export const keyOf = (turn) => turn.parent_turn_id ?? 'first';
export const keyAt = (turns, place) => (turns[place] ? keyOf(turns[place]) : turns[place - 1]?.turn_id ?? 'first');

/** The ids of every message of the turns before a place. */
export const knownBefore = (turns, place) => new Set(turns.slice(0, place).flatMap((turn) => turn.message_ids));
