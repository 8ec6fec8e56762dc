// The tree of the whole conversation: every turn, every answer beside it, where the reader stands, what failed.
// Enter or a click goes to a turn; the buttons below act on the one that is chosen.

import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { aborted, remove, sentence, threadPath } from '../api.js';
import { branched, reload } from '../chat/conversation.js';
import { descendants, leafOf } from '../chat/turns.js';
import { show, standAt } from '../chat/verbs.js';
import { toast } from '../toast.js';
import { outline } from './outline.js';

/** Draw the tree; `close` leaves it where it covers the conversation. */
export function TreePanel({ talk, close }) {
  const [failure, setFailure] = useState(null);
  const [chosen, setChosen] = useState(null);
  const [gone, setGone] = useState([]);
  const tree = talk.tree.value;
  const path = talk.turns.value;
  const busy = talk.busy.value;

  const failed = (error) => { if (!aborted(error)) setFailure(sentence(error)); };
  const tried = (promise) => promise.then(() => setFailure(null), failed);
  useEffect(() => { if (!busy) tried(branched(talk)); }, [path, busy]);

  const rows = useMemo(() => outline((tree?.turns ?? []).filter((turn) => !gone.includes(turn.turn_id))), [tree, gone]);
  const here = tree?.turns.findLast((turn) => turn.on_selected_path)?.turn_id;
  const rowOf = (turnId) => rows.find((row) => row.turn.turn_id === turnId);
  const current = rowOf(chosen) ?? rowOf(here) ?? rows[0];

  const visit = async (turn) => {
    setChosen(turn.turn_id);
    const away = !turn.on_selected_path;
    if (away && !leafOf(tree, turn)) return setFailure('This try holds no answer that can be gone to.');
    if (away && busy) return setFailure('Wait for the answer, or stop it.');
    await tried(show(talk, turn.turn_id));
    close();
    look(turn.turn_id);
  };
  const discard = (turn) => {
    const ids = descendants(tree, turn).map((one) => one.turn_id);
    const back = () => setGone((before) => before.filter((id) => !ids.includes(id)));
    const sent = () => removed(talk, turn).catch((error) => { back(); toast(sentence(error)); });
    setGone((before) => [...before, ...ids]);
    toast(ids.length > 1 ? `Deleted ${ids.length} turns` : 'Deleted a turn', {
      action: { label: 'Undo', run: back }, over: sent,
    });
  };

  const worded = tree?.turns.every((turn) => turn.question !== undefined);
  if (failure && !worded) return html`<p class="refused" role="alert">${failure}</p>`;
  if (!worded) return html`<p class="quiet" role="status">Reading the tree…</p>`;
  if (!rows.length) return html`<p class="quiet">Nothing was said here yet.</p>`;
  return html`
    <${Rows} rows=${rows} here=${here} current=${current} onChoose=${setChosen} onVisit=${visit} />
    ${tree.broken.map((one) => html`
      <p class="refused" key=${one.checkpoint_id}>${one.checkpoint_id}: ${one.reason}</p>`)}
    ${failure && html`<p class="refused" role="alert">${failure}</p>`}
    <${Verbs} turn=${current.turn} here=${here} busy=${busy} onVisit=${visit}
      onStand=${(turn) => tried(standAt(talk, turn)).then(close)} onDiscard=${discard} />`;
}

function Rows({ rows, here, current, onChoose, onVisit }) {
  const list = useRef(null);
  useEffect(() => { list.current.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }); }, [here]);
  const keys = (event) => {
    const place = rows.indexOf(current);
    const next = { ArrowUp: place - 1, ArrowDown: place + 1, Home: 0, End: rows.length - 1 }[event.key];
    if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); onVisit(current.turn); }
    if (next === undefined || !rows[next]) return;
    event.preventDefault();
    list.current.children[next].focus();
  };
  return html`
    <ul class="tree" role="tree" aria-label="Turns of this chat" ref=${list} onKeyDown=${keys}>
      ${rows.map((row) => html`
        <${Row} key=${row.turn.turn_id} row=${row} here=${row.turn.turn_id === here} chosen=${row === current}
          onChoose=${onChoose} onVisit=${onVisit} />`)}
    </ul>`;
}

const STATUS = { done: '', failed: 'failed', interrupted: 'stopped', running: 'running' };

function Row({ row: { turn, level, rails, place, of, up, down }, here, chosen, onChoose, onVisit }) {
  return html`
    <li class="tree-row" role="treeitem" aria-level=${level} aria-posinset=${place} aria-setsize=${of}
      aria-selected=${turn.on_selected_path} aria-current=${here ? 'true' : null} tabindex=${chosen ? 0 : -1}
      data-status=${turn.status} data-up=${up ? '' : null} data-down=${down ? '' : null}
      onFocus=${() => onChoose(turn.turn_id)} onClick=${() => onVisit(turn)}>
      ${rails.map((rail) => html`<span class="rail" data-rail=${rail} aria-hidden="true"></span>`)}
      <span class="dot" aria-hidden="true"></span>
      <span class="tree-words">
        <span class="tree-question" dir="auto">${turn.question || 'No text'}</span>
        <span class="tree-answer" dir="auto">${turn.answer}</span>
      </span>
      <span class="tree-marks">
        ${STATUS[turn.status] && html`<span class="tree-mark" data-status=${turn.status}>${STATUS[turn.status]}</span>`}
        ${here && html`<span class="tree-mark" data-status="here">here</span>`}
        ${turn.sibling_count > 1 && html`<span class="quiet">${turn.sibling_index + 1}/${turn.sibling_count}</span>`}
      </span>
    </li>`;
}

function Verbs({ turn, here, busy, onVisit, onStand, onDiscard }) {
  return html`
    <footer class="panel-foot" aria-label="The chosen turn">
      <button class="button plain" onClick=${() => onVisit(turn)}>Go there</button>
      <button class="button plain" disabled=${busy || turn.status !== 'done' || turn.turn_id === here}
        title="What you write next goes on right after this turn" onClick=${() => onStand(turn)}>
        Continue from here
      </button>
      <button class="button plain" disabled=${busy || turn.on_selected_path} onClick=${() => onDiscard(turn)}
        title=${turn.on_selected_path ? 'You stand on this turn' : 'With all that came after it'}>Delete</button>
    </footer>`;
}

/** Delete a turn with all that came after it, and read what is left. */
async function removed(talk, turn) {
  await remove(threadPath(talk.id.peek(), `/turns/${encodeURIComponent(turn.turn_id)}`), { keepalive: true });
  await reload(talk);
}

/** Bring a turn into view and let it be seen. */
function look(turnId) {
  requestAnimationFrame(() => {
    const turn = document.querySelector(`[data-turn="${CSS.escape(turnId)}"]`);
    turn?.scrollIntoView({ block: 'start' });
    turn?.animate?.([{ background: 'var(--accent-soft)' }, { background: 'transparent' }], 1200);
  });
}
