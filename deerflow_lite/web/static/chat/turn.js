// One turn: the question, the answer, how it ended, and what can be done with it.

import { html, useRef, useState } from '../html.js';
import { sentence } from '../api.js';
import { Action, Actions, Copy } from './actions.js';
import { Answer } from './answer.js';
import { EditBox, Question } from './question.js';
import { answered, begun } from './live.js';
import { questions } from './lost.js';
import { hidden, isQuestion, questionText, said } from './said.js';
import { noEdit, waits } from './turns.js';
import { edit, goOn, send } from './verbs.js';

/** Draw a stored turn; `last` where the path ends with it. */
export function Turn({ talk, turn, last }) {
  const questions = turn.messages.filter(isQuestion);
  const answer = turn.messages.filter((message) => !isQuestion(message) && !hidden(message));
  return html`
    <article class="turn" data-turn=${turn.turn_id} data-status=${turn.status}>
      ${questions.map((message) => html`<${Asked} key=${message.id} talk=${talk} turn=${turn} message=${message} />`)}
      <div class="answer">
        <h2 class="unseen">Answer</h2>
        <${Answer} messages=${answer} />
        <${Ending} talk=${talk} turn=${turn} last=${last} />
        <${Actions} talk=${talk} turn=${turn} />
      </div>
    </article>`;
}

function Asked({ talk, turn, message }) {
  const [editing, setEditing] = useState(false);
  const busy = talk.busy.value;
  const place = useRef(null);
  const save = (text) => edit(talk, turn, message, text).then(() => document.getElementById('ask')?.focus());
  const cancel = () => {
    setEditing(false);
    requestAnimationFrame(() => place.current?.querySelector('[data-edit]')?.focus());
  };
  const tools = html`
    <div class="actions question-actions">
      <${Copy} text=${questionText(message)} label="Copy the question" />
      <${Action} icon="edit" label="Edit" why=${noEdit(turn, busy)} onClick=${() => setEditing(true)} data-edit />
    </div>`;
  return html`
    <div ref=${place}>
      ${editing
        ? html`<${EditBox} message=${message} onSave=${save} onCancel=${cancel} />`
        : html`<${Question} message=${message} tools=${tools} />`}
    </div>`;
}

const ENDINGS = {
  failed: { title: 'This run failed', again: 'Try again' },
  interrupted: { title: 'Stopped', again: 'Continue' },
};

/** What stands under a turn that did not end well; only the last one can go on from where it is. */
function Ending({ talk, turn, last }) {
  const [refusal, setRefusal] = useState(null);
  const ending = ENDINGS[turn.status];
  const thread = talk.thread.value;
  if (!ending || (last && waits(thread))) return null;
  const error = talk.reasons.value.get(turn.run_id) ?? (last ? thread?.error : null);
  const again = () => goOn(talk).catch((failure) => setRefusal(sentence(failure)));
  return html`
    <div class="ending" data-status=${turn.status}>
      <p><strong>${ending.title}</strong>${error && html`<span>: ${said(error)}</span>`}</p>
      ${last && !talk.busy.value && html`
        <button class="button plain" onClick=${again}>${ending.again}</button>`}
      ${refusal && html`<p class="refused" role="alert">${refusal}</p>`}
    </div>`;
}

const AWAY = 'The service cannot be reached. What came stays, and the answer goes on here once it is back.';

const working = (turn) => (turn.stopping.value ? 'Stopping…' : turn.note ?? (begun(turn) ? '' : 'Working…'));

/** Draw the turn that is being answered. */
export function LiveTurn({ turn }) {
  turn.seen.value;
  const messages = answered(turn);
  return html`
    <article class="turn" data-status="running" aria-busy="true">
      ${turn.question.map((message, number) => html`<${Question} key=${message.id ?? number} message=${message} />`)}
      <div class="answer">
        <h2 class="unseen">Answer</h2>
        <${Answer} messages=${messages} growing=${true} />
        ${turn.error && html`<div class="ending" data-status="failed"><p>${said(turn.error)}</p></div>`}
        <p class="working">
          <span class="pulse" aria-hidden="true"></span>
          ${turn.away ? html`<span role="status">${AWAY}</span>` : working(turn)}
        </p>
      </div>
    </article>`;
}

/** Draw a message that no turn holds, with what became of its run. */
export function Lost({ talk, run }) {
  const [refusal, setRefusal] = useState(null);
  const asked = questions(run);
  const again = () => send(talk, asked.map(questionText).join('\n\n')).catch((error) => setRefusal(sentence(error)));
  return html`
    <article class="turn" data-status="lost">
      ${asked.map((message, number) => html`<${Question} key=${number} message=${message} />`)}
      <div class="ending" data-status=${run.status === 'interrupted' ? 'interrupted' : 'failed'}>
        <p><strong>${run.status === 'interrupted' ? 'Stopped' : 'This run failed'}</strong> before
          anything was answered${run.error ? `: ${said(run.error)}` : ''}.</p>
        <button class="button plain" onClick=${again}>Send again</button>
        ${refusal && html`<p class="refused" role="alert">${refusal}</p>`}
      </div>
    </article>`;
}
