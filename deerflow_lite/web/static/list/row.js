// One chat in the list: a link as wide as the row, its mark, its time and its menu; or the box to rename it in.
// What the menu does is done elsewhere.

import { html, signal, useRef } from '../html.js';
import { waits } from '../chat/turns.js';
import { Icon } from '../icons.js';
import { uncover } from '../layout.js';
import { menuAt, toggleMenu } from '../menu.js';
import { chatPath } from '../route.js';
import { opened } from '../opened.js';
import { discard, file, pin, rename } from './actions.js';
import { exactly, timeAgo } from './days.js';
import { isArchived, isPinned, titleOf } from './order.js';
import { TitleBox } from './title.js';
import { listOf } from './rows.js';
import { choose, choosing, chosen, toggle } from './selection.js';
import { unread } from './unread.js';

const MARKS = {
  busy: 'Answering', interrupted: 'Needs your answer', stopped: 'Stopped', error: 'Failed', unread: 'New answer',
};
const renaming = signal(null);

/** What can be done to a chat, as entries of a menu; `begin` starts renaming it where it stands. */
export function entriesOf(row, begin) {
  const archived = isArchived(row);
  return [
    { label: 'Rename', icon: 'edit', run: begin },
    { label: isPinned(row) ? 'Unpin' : 'Pin', icon: 'pin', run: () => pin(row) },
    archived
      ? { label: 'Restore chat', icon: 'restore', run: () => file([row], false) }
      : { label: 'Archive chat', icon: 'archive', run: () => file([row], true) },
    { label: 'Delete', icon: 'trash', danger: true, run: () => discard([row]) },
  ];
}

/** Give the ids that decide how rows look; whoever draws rows reads them once. */
export const marks = () => ({
  here: opened.value.id, renamed: renaming.value, choosing: choosing.value, chosen: chosen.value, fresh: unread.value,
});

const drawn = new WeakMap();

/** Draw a row, or give it as it was drawn: of thousands only those are drawn anew that look different now. */
export function rowNode(row, { here, renamed, choosing: choice, chosen: picked, fresh }) {
  const { thread_id: id } = row;
  const look = [id === here, id === renamed, choice, picked.has(id), fresh.has(id), timeAgo(row.updated_at)];
  const before = drawn.get(row);
  if (before?.look.every((each, place) => each === look[place])) return before.node;
  const [isHere, isRenamed, isChoice, isPicked, isFresh] = look;
  const mark = markOf(row, isFresh);
  const node = isRenamed ? html`<${Renaming} key=${id} row=${row} />` : html`
    <li class="row" key=${id} data-id=${id} data-here=${isHere} data-chosen=${isPicked}>
      ${isChoice ? html`<${Choice} row=${row} picked=${isPicked} mark=${mark} />`
    : html`<${Link} row=${row} here=${isHere} mark=${mark} />`}
    </li>`;
  drawn.set(row, { look, node });
  return node;
}

/** A run that was stopped leaves a thread `interrupted` as well: only a question of the graph needs an answer. */
function markOf(row, isFresh) {
  if (row.status === 'interrupted' && !waits(row)) return 'stopped';
  return MARKS[row.status] ? row.status : isFresh && 'unread';
}

const Link = ({ row, here, mark }) => html`
  <a class="row-link" href=${chatPath(row.thread_id)} aria-current=${here ? 'page' : undefined} onClick=${uncover}>
    <${Words} row=${row} mark=${mark} />
  </a>
  <${More} row=${row} />`;

const Words = ({ row, mark }) => html`
  ${isPinned(row) && html`<span class="row-pin"><${Icon} name="pin" /><span class="unseen">Pinned: </span></span>`}
  <span class="row-title" dir="auto">${titleOf(row)}</span>
  ${mark
    ? html`<span class="mark" data-status=${mark}>${MARKS[mark]}</span>`
    : html`<${Moment} text=${row.updated_at} />`}`;

const Moment = ({ text }) =>
  html`<time class="row-time" datetime=${text} title=${exactly(text)}>${timeAgo(text)}</time>`;

function Choice({ row, picked, mark }) {
  const shift = useRef(false);
  return html`
    <label class="row-link" onPointerDown=${(event) => { shift.current = event.shiftKey; }}>
      <input type="checkbox" checked=${picked}
        onClick=${(event) => { shift.current ||= event.shiftKey; }}
        onChange=${() => { toggle(listOf(row), row.thread_id, shift.current); shift.current = false; }} />
      <${Words} row=${row} mark=${mark} />
    </label>`;
}

function More({ row }) {
  const button = useRef(null);
  const entries = () => {
    const rows = listOf(row);
    const at = rows.indexOf(row);
    const nearest = [row, rows[at + 1], rows[at - 1]].filter(Boolean);
    const select = { label: 'Select', icon: 'choose', run: () => choose(row.thread_id) };
    return entriesOf(row, () => { renaming.value = row.thread_id; }).toSpliced(-1, 0, select)
      .map((entry) => ({ ...entry, run: () => { entry.run(); focusFirst(nearest); } }));
  };
  return html`
    <button class="ghost row-more" ref=${button} aria-label=${`More for ${titleOf(row)}`} aria-haspopup="menu"
      aria-expanded=${menuAt(button.current)} onClick=${() => toggleMenu(button.current, entries())}>
      <${Icon} name="more" />
    </button>`;
}

function Renaming({ row }) {
  const ended = () => { renaming.value = null; focusFirst([row]); };
  return html`
    <li class="row" data-id=${row.thread_id}>
      <${TitleBox} title=${titleOf(row)} save=${(title) => rename(row, title)} ended=${ended} />
    </li>`;
}

/** Put the focus on the first of these rows that is still shown, where it would otherwise be lost. */
function focusFirst(rows) {
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    const linkOf = ({ thread_id: id }) => document.querySelector(`.row[data-id="${CSS.escape(id)}"] .row-link`);
    rows.map(linkOf).find(Boolean)?.focus();
  });
}
