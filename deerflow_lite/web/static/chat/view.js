// The conversation: its turns, the one that is being answered, what is asked, and the box to write in.
// What it shows is conversation.js's; what is done is verbs.js's.

import { html, useEffect, useLayoutEffect, useMemo } from '../html.js';
import { aborted, sentence } from '../api.js';
import { Icon } from '../icons.js';
import { chatPath } from '../route.js';
import { Asking } from './asking.js';
import { Composer } from './composer.js';
import { older, reload, talkOf } from './conversation.js';
import { join, watch } from './following.js';
import { keyOf } from './live.js';
import { useChatCommands } from './keys.js';
import { Panels } from './panels.js';
import { useScroll } from './scroll.js';
import { said } from './said.js';
import { LiveTurn, Lost, Turn } from './turn.js';

/** Draw the conversation of a thread, known or not yet, or of a new one (null). */
export function Chat({ id }) {
  const talk = useMemo(() => talkOf(id), [id]);
  useLayoutEffect(() => {
    if (!talk.loaded.peek()) load(talk); // asked before the first frame is drawn
    return watch(talk);
  }, [talk]);
  useChatCommands(talk);
  return html`
    <div class="chat" data-thread=${id ?? ''} data-empty=${id === null && !talk.busy.value}>
      <div class="chat-column">
        <${Conversation} key=${talk.key} talk=${talk} />
        <${Composer} talk=${talk} />
      </div>
      <${Panels} talk=${talk} />
    </div>`;
}

/** Show the newest turns, then follow the run that is on its way. */
async function load(talk) {
  talk.failure.value = null;
  try {
    await reload(talk);
    if (talk.thread.peek()?.status === 'busy') await join(talk);
  } catch (error) {
    if (!aborted(error)) talk.failure.value = error;
  }
}

function Conversation({ talk }) {
  const { frame, atEnd, toEnd } = useScroll(() => older(talk).catch(() => {})); // scrolling on asks again
  const live = talk.live.value;
  const asked = live?.place;
  useEffect(() => { if (live) toEnd(); }, [live, asked]);
  return html`
    <div class="scroll" ref=${frame} role="log" aria-label="Conversation" tabindex="0"
      aria-busy=${live !== null || !talk.loaded.value}>
      <div class="turns"><${Turns} talk=${talk} live=${live} /></div>
    </div>
    <p class="unseen" role="status">${talk.said.value}</p>
    ${!atEnd && html`
      <button class="button plain to-end" onClick=${() => toEnd(true)}>
        <${Icon} name="down" />Jump to latest
      </button>`}`;
}

function Turns({ talk, live }) {
  const turns = talk.turns.value;
  if (!turns.length && !live && talk.failure.value) return html`<${Failure} talk=${talk} />`;
  if (!talk.loaded.value) return html`<${Skeleton} />`;
  const stored = live ? turns.slice(0, live.place) : turns;
  const lost = live ? null : talk.lost.value;
  if (!stored.length && !live && !lost) return html`<${Empty} talk=${talk} />`;
  return html`
    ${!talk.more.value && html`<${Origin} thread=${talk.thread.value} />`}
    ${talk.more.value && html`<p class="quiet older" role="status">Older messages…</p>`}
    ${stored.map((turn, place) => html`
      <${Turn} key=${keyOf(turn)} talk=${talk} turn=${turn} last=${place === turns.length - 1} />`)}
    ${live && html`<${LiveTurn} key=${live.key} turn=${live} />`}
    ${lost && html`<${Lost} key=${lost.run_id} talk=${talk} run=${lost} />`}
    ${talk.failure.value && html`<${Failure} talk=${talk} />`}
    <${Trouble} talk=${talk} />
    <${Asking} talk=${talk} />`;
}

/** Where a chat that branches off begins. */
function Origin({ thread }) {
  const parent = thread?.metadata?.branch_parent_thread_id;
  if (typeof parent !== 'string') return null;
  return html`<p class="quiet older">Branched from <a href=${chatPath(parent)}>another chat</a></p>`;
}

const Empty = ({ talk }) => html`
  <div class="empty">
    <h2>${talk.id.value === null ? 'What shall we talk about?' : 'Nothing was said here yet'}</h2>
    <p>Every answer is kept: you can ask again, ask otherwise and come back.</p>
  </div>`;

const Skeleton = () => html`
  <div class="skeleton" role="status" aria-label="Loading the conversation"><i></i><i></i><i></i></div>`;

function Failure({ talk }) {
  return html`
    <div class="ending" data-status="failed" role="alert">
      <p><strong>The conversation could not be loaded</strong>: ${sentence(talk.failure.value)}</p>
      <button class="button plain" onClick=${() => load(talk)}>Try again</button>
    </div>`;
}

/** A try at another answer that failed: the answer before it stands, and the try is in the tree. */
function Trouble({ talk }) {
  const failed = talk.trouble.value;
  if (!failed) return null;
  const again = () => failed.again().catch((error) => {
    talk.trouble.value = { ...failed, error: { message: sentence(error) } };
  });
  const away = () => { talk.trouble.value = null; };
  return html`
    <div class="ending" data-status="failed" role="alert">
      <p><strong>The new answer failed</strong>: ${said(failed.error)}. The one before it stands.</p>
      <button class="button plain" onClick=${again}>Try again</button>
      <button class="button plain" onClick=${away}>Dismiss</button>
    </div>`;
}
