// What a thread holds at each of its checkpoints, for developers; nothing can be changed here.

import { html, useEffect, useState } from '../html.js';
import { aborted, post, sentence, threadPath } from '../api.js';
import { Json } from './json.js';

const PAGE = 10; // each carries its whole values

/** Draw the checkpoints, newest first, and the state at the one that is chosen. */
export function StatePanel({ talk }) {
  const [states, setStates] = useState([]);
  const [more, setMore] = useState(true);
  const [chosen, setChosen] = useState(null);
  const [failure, setFailure] = useState(null);
  const head = talk.thread.value?.head_checkpoint_id ?? null;

  const read = async (known) => {
    const body = { limit: PAGE, ...(known.length && { before: known.at(-1).checkpoint_id }) };
    const path = threadPath(talk.id.peek(), '/history');
    try {
      const page = await post(path, body, { signal: talk.closing.signal });
      setStates([...known, ...page]);
      setMore(page.length === PAGE);
      setFailure(null);
    } catch (error) {
      if (!aborted(error)) setFailure(sentence(error));
    }
  };
  useEffect(() => { setChosen(null); read([]); }, [talk, head]);

  const shown = states.find((state) => state.checkpoint_id === chosen) ?? states[0];
  return html`
    <div class="state">
      ${failure && html`<p class="refused" role="alert">${failure}</p>`}
      ${!failure && !more && !states.length && html`<p class="quiet">There is no checkpoint yet.</p>`}
      <ul class="checkpoints" aria-label="Checkpoints, newest first">
        ${states.map((state) => html`
          <li key=${state.checkpoint_id}>
            <button class="checkpoint" aria-pressed=${state === shown} onClick=${() => setChosen(state.checkpoint_id)}>
              <span>${title(state)}</span>
              <span class="quiet">${state.checkpoint_id === head ? 'head' : ''} ${clock(state.created_at)}</span>
            </button>
          </li>`)}
        ${more && states.length > 0 && html`
          <li><button class="ghost" onClick=${() => read(states)}>Older checkpoints</button></li>`}
      </ul>
      ${shown && html`
        <section class="values" aria-label="State at the chosen checkpoint">
          <h3 class="state-id">${shown.checkpoint_id}</h3>
          ${Object.entries(facts(shown)).map(([name, value]) => html`
            <${Json} key=${shown.checkpoint_id + name} name=${name} value=${value}
              depth=${name === 'values' ? 1 : 2} />`)}
        </section>`}
    </div>`;
}

const title = ({ metadata, next }) =>
  `Step ${metadata?.step ?? '–'} · ${metadata?.source ?? 'unknown'}${next?.length ? ` → ${next.join(', ')}` : ''}`;
const clock = (at) => (at ? new Date(at).toLocaleTimeString() : '');
const facts = ({ values, next, tasks, interrupts, metadata, created_at, parent_checkpoint_id }) =>
  ({ values, next, tasks, interrupts, metadata, created_at, parent_checkpoint_id });
