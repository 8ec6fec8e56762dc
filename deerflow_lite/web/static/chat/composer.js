// The box in which a message is written: Enter sends, Shift+Enter is a new line, a draft is kept for each chat.
// While an answer comes it holds what is typed and sends nothing: the button stops the run then.

import { html, useEffect, useLayoutEffect, useRef, useState } from '../html.js';
import { sentence } from '../api.js';
import { Icon } from '../icons.js';
import { ariaOf } from '../keys.js';
import { Agents, chosen } from './agents.js';
import { draft, keepDraft } from './drafts.js';
import { isQuestion, questionText } from './said.js';
import { waits } from './turns.js';
import { composing, fitted } from './typing.js';
import { send, stop } from './verbs.js';

/** Draw the box of a conversation. */
export function Composer({ talk }) {
  const threadId = talk.id.value;
  const [text, setText] = useState(() => draft(threadId));
  const [told, setTold] = useState(null);
  const [early, setEarly] = useState(false);
  const box = useRef(null);
  const busy = talk.busy.value;

  useLayoutEffect(() => {
    setText(draft(talk.id.peek()));
    setTold(null);
    // On a touch screen the focus would bring up the keyboard over what was opened to be read.
    if (matchMedia('(pointer: fine)').matches) box.current.focus();
  }, [talk]);
  useEffect(() => fitted(box.current), [text]);
  useEffect(() => { if (!busy) setEarly(false); }, [busy]);

  const write = (value) => { setText(value); keepDraft(talk.id.peek(), value); };
  const refused = (error, lost = '') => {
    setTold(sentence(error));
    if (box.current && !box.current.value) write(lost);
  };
  const submit = () => {
    const asked = text.trim();
    if (asked === '') return undefined;
    if (busy) return setEarly(true);
    write('');
    setTold(null);
    return send(talk, asked, chosen.peek()).catch((error) => refused(error, asked));
  };
  const keys = (event) => {
    if (composing(event)) return;
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) { event.preventDefault(); submit(); }
    if (event.key === 'ArrowUp' && text === '') { event.preventDefault(); write(lastAsked(talk)); }
  };
  const note = early ? 'Wait for the answer, or stop it: your message stays here.' : told;
  return html`
    <form class="composer" onSubmit=${(event) => { event.preventDefault(); submit(); }}>
      ${note && html`<p class="refused" role="alert">${note}</p>`}
      <div class="composer-box">
        <textarea id="ask" ref=${box} rows="1" dir="auto" aria-label="Message" aria-keyshortcuts=${ariaOf('chat.focus')}
          placeholder=${placeholder(talk)} value=${text}
          onInput=${(event) => write(event.target.value)} onKeyDown=${keys}></textarea>
        <div class="composer-row">
          ${threadId === null ? html`<${Agents} />` : html`<span></span>`}
          <${SendOrStop} talk=${talk} empty=${text.trim() === ''} refused=${refused} />
        </div>
      </div>
    </form>`;
}

function SendOrStop({ talk, empty, refused }) {
  if (!talk.busy.value) {
    return html`
      <button class="button round" aria-label="Send" title="Send (Enter)" disabled=${empty}>
        <${Icon} name="send" />
      </button>`;
  }
  const stopping = talk.live.value?.stopping.value ?? true;
  return html`
    <button type="button" class="button round" aria-label="Stop" title="Stop the answer" disabled=${stopping}
      onClick=${() => stop(talk).catch(refused)}><${Icon} name="stop" /></button>`;
}

function placeholder(talk) {
  if (waits(talk.thread.value)) return 'Answer above, or write something else';
  return talk.turns.value.length ? 'Reply' : 'Ask anything';
}

function lastAsked(talk) {
  const questions = talk.turns.peek().flatMap((turn) => turn.messages.filter(isQuestion));
  return questions.length ? questionText(questions.at(-1)) : '';
}
