// Reads the events of one run and takes the stream up again, after the last event seen, when it breaks.
// It knows no message: what an event means is its reader's. A run is started once: only reading is ever repeated.

import { ApiError, aborted, request } from './api.js';

const SILENCE = 15_000; // the service sends a heartbeat every second
const PAUSES = [0, 250, 1000, 2000, 4000, 8000];

/**
 * Start a run by POST and give its events `{id, event, data}` until `end`; between them an `away` for each time that
 * the service could not be reached, and a `back` when it could again.
 */
export async function* started(path, body, { signal } = {}) {
  const answer = await request('POST', path, body, { signal });
  yield* whole(answer, modes(body.stream_mode), null, signal);
}

/** Give the events of a run that exists, after the event id `after` (null: from the first), until `end`. */
export async function* followed(threadId, runId, { after = null, streamMode = [], signal } = {}) {
  const query = modes(streamMode);
  const path = `/threads/${encodeURIComponent(threadId)}/runs/${encodeURIComponent(runId)}/stream`;
  yield* whole(yield* again(path + query, after, signal, paused()), query, after, signal);
}

async function* whole(answer, query, after, signal) {
  const path = (answer.headers.get('Location') ?? new URL(answer.url).pathname.replace(/^\/api/, '')) + query;
  let last = after;
  let pause = paused();
  for (;;) {
    try {
      for await (const event of parsed(answer.body, signal)) {
        pause = paused();
        last = event.id ?? last;
        yield event;
        if (event.event === 'end') return;
      }
    } catch (error) {
      if (signal?.aborted || aborted(error)) throw error;
    }
    answer = yield* again(path, last, signal, pause);
  }
}

/** Gives how long to wait before each try. */
function paused() {
  let tries = 0;
  return () => PAUSES[Math.min(tries++, PAUSES.length - 1)];
}

async function* again(path, last, signal, pause) {
  for (;;) {
    await slept(pause(), signal);
    try {
      const answer = await rejoined(path, last, signal);
      yield { id: null, event: 'back' };
      return answer;
    } catch (error) {
      if (!(error instanceof ApiError) || (error.status !== 0 && error.status !== 503)) throw error;
      yield { id: null, event: 'away' };
    }
  }
}

function rejoined(path, last, signal) {
  return request('GET', path, undefined, { signal, headers: last === null ? {} : { 'Last-Event-ID': String(last) } });
}

/** Cut a body into events; comments are passed over, a silent connection counts as broken. */
async function* parsed(body, signal) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = '';
  try {
    for (;;) {
      const { value, done } = await spoken(reader.read(), signal);
      if (done) return;
      const parts = (waiting + value).split('\n\n');
      waiting = parts.pop();
      for (const part of parts) {
        const event = read(part);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function read(part) {
  const found = { id: null, event: 'message', data: '' };
  for (const line of part.split('\n')) {
    const [, name, value] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (name) found[name] = value;
  }
  if (found.data === '') return null;
  return { id: found.id === null ? null : Number(found.id), event: found.event, data: JSON.parse(found.data) };
}

function spoken(reading, signal) {
  let timer;
  const silence = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new ApiError(0, 'The stream went silent.')), SILENCE);
  });
  return Promise.race([reading, silence]).finally(() => clearTimeout(timer));
}

function slept(milliseconds, signal) {
  return new Promise((wake, fail) => {
    const stop = () => { clearTimeout(timer); fail(signal.reason); };
    const timer = setTimeout(() => { signal?.removeEventListener('abort', stop); wake(); }, milliseconds);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
}

const modes = (named) => {
  const list = [named ?? []].flat();
  return list.length ? `?${new URLSearchParams(list.map((mode) => ['stream_mode', mode]))}` : '';
};
