// One chat in the list: a link as wide as the row, its mark, its time and its menu; or the box to rename it in.
// What the menu does is done elsewhere.

import { html, signal, useRef } from '../html.js';
import { Icon } from '../icons.js';
import { uncover } from '../layout.js';
import { menuAt, toggleMenu } from '../menu.js';
import { chatPath } from '../route.js';
import { opened } from '../opened.js';
import { discard, file, pin, rename } from './actions.js';
import { exactly, timeAgo } from './days.js';
import { isArchived, isPinned, titleOf } from './order.js';
import { TitleBox } from './title.js';
import { choose, choosing, chosen, toggle } from './selection.js';

const MARKS = { busy: 'Answering', interrupted: 'Needs your answer', error: 'Failed' };
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

/** Draw one row; `rows` are all of the list, in order. */
export function Row({ row, rows }) {
  const { thread_id: id } = row;
  if (renaming.value === id) return html`<${Renaming} row=${row} />`;
  const here = opened.value.id === id;
  return html`
    <li class="row" data-id=${id} data-here=${here} data-chosen=${chosen.value.has(id)}>
      ${choosing.value ? html`<${Choice} row=${row} rows=${rows} />` : html`
        <a class="row-link" href=${chatPath(id)} aria-current=${here ? 'page' : undefined} onClick=${uncover}>
          <${Words} row=${row} />
        </a>
        <${More} row=${row} rows=${rows} />`}
    </li>`;
}

const Words = ({ row }) => html`
  ${isPinned(row) && html`<span class="row-pin"><${Icon} name="pin" /><span class="unseen">Pinned: </span></span>`}
  <span class="row-title" dir="auto">${titleOf(row)}</span>
  ${MARKS[row.status]
    ? html`<span class="mark" data-status=${row.status}>${MARKS[row.status]}</span>`
    : html`<${Moment} text=${row.updated_at} />`}`;

const Moment = ({ text }) =>
  html`<time class="row-time" datetime=${text} title=${exactly(text)}>${timeAgo(text)}</time>`;

function Choice({ row, rows }) {
  const shift = useRef(false);
  return html`
    <label class="row-link" onPointerDown=${(event) => { shift.current = event.shiftKey; }}>
      <input type="checkbox" checked=${chosen.value.has(row.thread_id)}
        onClick=${(event) => { shift.current ||= event.shiftKey; }}
        onChange=${() => { toggle(rows, row.thread_id, shift.current); shift.current = false; }} />
      <${Words} row=${row} />
    </label>`;
}

function More({ row, rows }) {
  const button = useRef(null);
  const at = rows.indexOf(row);
  const nearest = [row, rows[at + 1], rows[at - 1]].filter(Boolean);
  const entries = () => {
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
