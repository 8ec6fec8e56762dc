// What a reader does to a conversation: ask, stop, ask again, answer a question, go back, branch off.
// Each throws ApiError where it is refused before anything has begun; what fails later stands in `talk.trouble`.
// While a run is on its way nothing else is begun: a second click does nothing.

import { batch, effect } from '../html.js';
import { ApiError, aborted, post, put, threadPath } from '../api.js';
import { started } from '../events.js';
import { changed, lookedUp, opened } from '../opened.js';
import { chatPath, go } from '../route.js';
import { branched, reload } from './conversation.js';
import { follow } from './following.js';
import { MODES, keyAt, keyOf, knownBefore, live } from './live.js';
import { isQuestion, lastAnswer } from './said.js';
import { leafOf, waits } from './turns.js';

/** Send a new message; a new chat becomes a thread first. Resolves when the run was taken in. */
export async function send(talk, text, assistant) {
  if (talk.busy.peek()) return undefined;
  if (!talk.loaded.peek()) await known(talk);
  if (talk.id.peek() === null) await created(talk);
  const turns = talk.turns.peek();
  const message = { type: 'human', content: text };
  const turn = live({
    place: turns.length, key: keyAt(turns, turns.length), question: [message], known: knownBefore(turns, turns.length),
  });
  return begun(talk, turn, '/runs/stream', { ...runOf(talk, assistant), input: { messages: [message] } });
}

/** Wait until the chat is read: where a message goes on from, and which agent answers it, is not known before. */
async function known(talk) {
  talk.starting.value = true;
  await new Promise((resolve) => {
    const stop = effect(() => {
      if (talk.loaded.value || talk.failure.value) queueMicrotask(() => { stop(); resolve(); });
    });
  });
  talk.starting.value = false;
  if (talk.failure.peek()) throw talk.failure.peek();
}

async function created(talk) {
  talk.starting.value = true;
  const thread = await post('/threads', {}).finally(() => { talk.starting.value = false; });
  talk.id.value = thread.thread_id;
  talk.thread.value = thread;
  opened.value = { state: 'ready', id: thread.thread_id, thread, error: null };
  changed(thread);
  go(chatPath(thread.thread_id));
}

/** Let a run that failed or was stopped go on from its last step. */
export async function goOn(talk) {
  if (talk.busy.peek()) return undefined;
  return begun(talk, lastLive(talk), '/runs/stream', { ...runOf(talk), input: null });
}

/** Answer a question that a graph asks; `answer` is text, or any JSON. */
export async function answerQuestion(talk, question, answer, alone) {
  if (talk.busy.peek()) return undefined;
  const resume = alone ? answer : { [question.id]: answer };
  return begun(talk, lastLive(talk), '/runs/stream', { ...runOf(talk), command: { resume } });
}

/** Ask for another answer of a turn; the old one stays beside it. */
export async function regenerate(talk, turn) {
  if (talk.busy.peek()) return undefined;
  const next = replacing(talk, turn, turn.messages.filter(isQuestion), (now) => regenerate(talk, now));
  return begun(talk, next, '/runs/regenerate', { ...STREAMED, message_id: lastAnswer(turn.messages).id });
}

/** Ask otherwise; the old question and its answer stay beside it. */
export async function edit(talk, turn, message, text) {
  if (talk.busy.peek()) return undefined;
  const questions = turn.messages.filter(isQuestion);
  const asked = questions.map((one) => (one.id === message.id ? reworded(one, text) : one));
  const next = replacing(talk, turn, asked, (now) => edit(talk, now, message, text));
  return begun(talk, next, '/runs/edit', { ...STREAMED, human_message_id: message.id, replacement_text: text });
}

const STREAMED = { stream: true, stream_mode: MODES };
const reworded = ({ additional_kwargs: _, ...message }, text) => ({ ...message, content: text });

const runOf = (talk, assistant) => ({
  assistant_id: talk.thread.peek()?.metadata?.graph_id ?? assistant ?? 'agent',
  stream_mode: MODES,
  multitask_strategy: 'reject',
  on_disconnect: 'continue',
});

/** A live turn in the place of one that stands; `again` does the same once more when it has failed. */
function replacing(talk, turn, question, again) {
  const turns = talk.turns.peek();
  const place = turns.indexOf(turn);
  const next = live({ place, key: keyOf(turn), question, known: knownBefore(turns, place) });
  next.again = () => again(talk.turns.peek().find((one) => one.turn_id === turn.turn_id));
  return next;
}

function lastLive(talk) {
  const turns = talk.turns.peek();
  const place = Math.max(turns.length - 1, 0);
  const messages = turns[place]?.messages ?? [];
  return live({
    place, key: keyAt(turns, place), question: messages.filter(isQuestion), messages, known: knownBefore(turns, place),
  });
}

/** Start a run, show its turn as live from the first event on, and resolve then; the rest is followed behind it. */
function begun(talk, turn, path, body) {
  talk.trouble.value = null;
  talk.starting.value = true;
  return new Promise((resolve, refused) => {
    const taken = () => {
      batch(() => { talk.live.value = turn; talk.starting.value = false; talk.said.value = 'Answering'; });
      resolve();
    };
    const events = (signal) => noticed(started(threadPath(talk.id.peek(), path), body, { signal }), taken);
    follow(talk, turn, events).then(
      () => finished(talk, turn),
      (error) => failed(talk, turn, error, refused),
    ).catch(() => {});
  });
}

async function* noticed(events, taken) {
  let first = true;
  for await (const event of events) {
    if (first) taken();
    first = false;
    yield event;
  }
}

async function finished(talk, turn) {
  try {
    await reload(talk);
  } catch (error) {
    if (!aborted(error)) talk.failure.value = error;
    return;
  }
  const stored = talk.turns.peek().at(turn.place);
  if (turn.error && turn.again && stored?.run_id !== turn.runId) talk.trouble.value = turn;
  talk.said.value = turn.error ? 'The run failed' : turn.stopping.peek() ? 'Stopped' : 'The answer is complete';
}

/** A run that was never taken in leaves nothing; one that was goes on in the service, and what it stored is shown. */
async function failed(talk, turn, error, refused) {
  if (talk.closing.signal.aborted) return;
  talk.starting.value = false;
  refused(error);
  if (talk.live.peek() !== turn) return;
  talk.said.value = '';
  await reload(talk).catch(() => { talk.failure.value = error; });
}

/** Stop the run; what came stays. */
export async function stop(talk) {
  const turn = talk.live.peek();
  if (!turn?.runId || turn.stopping.peek()) return;
  turn.stopping.value = true;
  try {
    await post(threadPath(talk.id.peek(), `/runs/${turn.runId}/cancel?wait=1`));
  } catch (error) {
    turn.stopping.value = false;
    throw error;
  }
}

/** Stand on the branch of a turn, where it was last read to; the turn stays in view. */
export async function show(talk, turnId) {
  await branched(talk);
  const tree = talk.tree.peek();
  const turn = tree.turns.find((one) => one.turn_id === turnId);
  if (turn.on_selected_path) return;
  remember(talk);
  const leaf = leafOf(tree, turn, talk.visited);
  await stand(talk, leaf?.checkpoint_id ?? turn.checkpoint_id, turnId);
}

/** Stand right behind a turn: what is asked next goes on from there. */
export async function standAt(talk, turn) {
  remember(talk);
  await stand(talk, turn.checkpoint_id, turn.turn_id);
}

async function stand(talk, checkpointId, turnId) {
  if (waits(talk.thread.peek())) throw new ApiError(409, WAITS);
  await put(threadPath(talk.id.peek(), '/head'), { checkpoint_id: checkpointId });
  talk.trouble.value = null;
  await reload(talk, turnId);
}

const WAITS = 'The agent waits for your answer here, and this place cannot be come back to: answer it first.';

/** Note where every turn of the path was read to, so that coming back leads to the same place. */
function remember(talk) {
  const path = talk.turns.peek();
  for (const turn of path) talk.visited.set(turn.turn_id, path.at(-1).turn_id);
}

/** Make a chat of its own that goes on from a turn, and go to it. */
export async function branchOff(talk, turn) {
  const made = await post(threadPath(talk.id.peek(), '/branches'), { message_id: lastAnswer(turn.messages).id });
  changed(await lookedUp(made.thread_id));
  go(chatPath(made.thread_id));
}

