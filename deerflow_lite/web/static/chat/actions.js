// The buttons under an answer: copy, another answer, branch off, and which of the answers beside it is shown.

import { html, useState } from '../html.js';
import { sentence } from '../api.js';
import { Icon } from '../icons.js';
import { copied } from './copy.js';
import { answerText } from './said.js';
import { choices, noBranch, noRegenerate } from './turns.js';
import { branchOff, regenerate, show } from './verbs.js';

/** Draw the row of buttons of a turn. */
export function Actions({ talk, turn }) {
  const [refusal, setRefusal] = useState(null);
  const busy = talk.busy.value;
  const text = answerText(turn.messages);
  const tried = (act) => () => act().then(() => setRefusal(null), (error) => setRefusal(sentence(error)));
  return html`
    <div class="actions">
      <${Switcher} talk=${talk} turn=${turn} busy=${busy} tried=${tried} />
      ${text && html`<${Copy} text=${text} label="Copy the answer" />`}
      <${Action} icon="redo" label="Regenerate" why=${noRegenerate(turn, busy)}
        onClick=${tried(() => regenerate(talk, turn))} />
      <${Action} icon="branch" label="Branch from here" why=${noBranch(turn)}
        onClick=${tried(() => branchOff(talk, turn))} />
      <${When} at=${turn.created_at} />
      ${refusal && html`<p class="refused" role="alert">${refusal}</p>`}
    </div>`;
}

/** One icon button; `why` is the reason for which it cannot be used, null where it can. */
export const Action = ({ icon, label, why = null, ...more }) => html`
  <button class="ghost" aria-label=${label} title=${why ? `${label}: ${why}` : label} disabled=${why !== null}
    ...${more}><${Icon} name=${icon} /></button>`;

/** A button that copies a text and says so. */
export function Copy({ text, label }) {
  const [told, setTold] = useState(null);
  const copy = async () => {
    setTold((await copied(text)) ? 'Copied' : 'The browser does not allow copying');
    setTimeout(() => setTold(null), 2000);
  };
  return html`
    <button class="ghost" aria-label=${label} title=${label} onClick=${copy}>
      <${Icon} name=${told === 'Copied' ? 'check' : 'copy'} />
    </button>
    <span class="quiet" role="status">${told}</span>`;
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' });
const clock = { hour: '2-digit', minute: '2-digit' };
const short = new Intl.DateTimeFormat(undefined, clock);
const dated = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', ...clock });

function When({ at }) {
  if (!at) return null;
  const time = new Date(at);
  const today = time.toDateString() === new Date().toDateString();
  const shown = (today ? short : dated).format(time);
  return html`<time class="quiet" datetime=${at} title=${exact.format(time)}>${shown}</time>`;
}

const ARROWS = { ArrowLeft: -1, ArrowRight: 1 };

/** Its buttons stay focusable at the ends, so that the arrow keys go on from where the reader is. */
function Switcher({ talk, turn, busy, tried }) {
  if (turn.sibling_count < 2) return null;
  const { can, left } = choices(talk.tree.value, turn);
  const place = can.findIndex((one) => one.turn_id === turn.turn_id);
  const to = (number) => { if (!busy && can[number]) tried(() => show(talk, can[number].turn_id))(); };
  const keys = ({ key }) => { if (ARROWS[key]) to(place + ARROWS[key]); };
  if (place < 0) return null;
  return html`
    ${can.length > 1 && html`
      <div class="switcher" role="group" aria-label=${`Answer ${place + 1} of ${can.length}`} onKeyDown=${keys}>
        <button class="ghost" aria-label="Previous answer" aria-disabled=${busy || place === 0}
          onClick=${() => to(place - 1)}><${Icon} name="back" /></button>
        <span aria-live="polite">${place + 1}/${can.length}</span>
        <button class="ghost" aria-label="Next answer" aria-disabled=${busy || place === can.length - 1}
          onClick=${() => to(place + 1)}><${Icon} name="forward" /></button>
      </div>`}
    ${left.length > 0 && html`
      <button class="ghost failed-tries" title="Show them in the tree" onClick=${() => { talk.panel.value = 'tree'; }}>
        ${left.length} ${left.every(({ status }) => status === 'failed') ? 'failed' : 'unfinished'}
        ${left.length === 1 ? ' try' : ' tries'}
      </button>`}`;
}
