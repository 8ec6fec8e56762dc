// Recent and Archived with their numbers, the search box below them, and the bar for the rows that are chosen.
// The numbers and rows are rows.js's.

import { computed, effect, html, signal, useEffect, useRef, useState } from '../html.js';
import { Icon } from '../icons.js';
import { ariaOf } from '../keys.js';
import { opened } from '../opened.js';
import { go, route } from '../route.js';
import { discard, file } from './actions.js';
import { isArchived } from './order.js';
import { TABS, counts, hidden, query, shown } from './rows.js';
import { choose, chooseAll, chooseNone, chosen } from './selection.js';

const LABELS = { recent: 'Recent', archived: 'Archived' };
const PATHS = { recent: '/chats', archived: '/chats/archived' };
const PAUSE = 200;

/** The tab that is shown. */
export const tab = signal('recent');

/** Show a tab; its address too, unless a chat is open. */
export function showTab(name) {
  tab.value = name;
  if (route.peek().name !== 'chat') go(PATHS[name]);
}

const numbers = computed(() => Object.fromEntries(Object.entries(TABS).map(([name, archived]) => {
  const away = [...hidden.value.values()].filter((row) => isArchived(row) === archived).length;
  return [name, counts.value[name] === null ? null : Math.max(0, counts.value[name] - away)];
})));

export const Tabs = () => html`
  <div class="tabs" role="tablist" aria-label="Which chats" onKeyDown=${walked}>
    ${Object.keys(LABELS).map((name) => html`<${Tab} key=${name} name=${name} here=${tab.value === name} />`)}
  </div>`;

const Tab = ({ name, here }) => html`
  <button class="tab" role="tab" id=${`tab-${name}`} aria-controls="rows" aria-selected=${here}
    tabindex=${here ? 0 : -1} onClick=${() => showTab(name)}>
    ${LABELS[name]} <span class="count">${numbers.value[name]?.toLocaleString('en') ?? ''}</span>
  </button>`;

function walked(event) {
  if (!['ArrowLeft', 'ArrowRight'].includes(event.key)) return;
  const other = tab.peek() === 'recent' ? 'archived' : 'recent';
  showTab(other);
  document.getElementById(`tab-${other}`).focus();
}

/** The search box: it asks the service when the typing pauses. */
export function Search() {
  const [words, setWords] = useState(query.peek());
  const timer = useRef(0);
  const typed = (text) => {
    setWords(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => { query.value = text.trim(); }, PAUSE);
  };
  const keyed = (event) => {
    if (event.key !== 'Escape' || !words) return;
    event.stopPropagation();
    typed('');
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return html`
    <div class="search" role="search">
      <${Icon} name="search" />
      <input class="field" id="search" type="search" placeholder="Search titles" aria-label="Search titles"
        aria-keyshortcuts=${ariaOf('list.search')} autocomplete="off" value=${words} onKeyDown=${keyed}
        onInput=${(event) => typed(event.target.value)} />
      <button class="ghost" aria-label="Select chats" title="Select chats" onClick=${() => choose()}>
        <${Icon} name="choose" />
      </button>
    </div>`;
}

/** The bar that acts on all chosen rows. */
export function Chosen() {
  const { rows } = shown[tab.value].value;
  const picked = rows.filter((row) => chosen.value.has(row.thread_id));
  const act = (does) => () => { does(picked); chooseNone(); };
  const keyed = (event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    chooseNone();
  };
  const archived = TABS[tab.value];
  const done = useRef(null);
  useEffect(() => done.current.focus(), []);
  return html`
    <div class="chosen" role="toolbar" aria-label="Chosen chats" onKeyDown=${keyed}>
      <span role="status">${picked.length} selected</span>
      <button class="ghost" onClick=${() => chooseAll(rows)}>All</button>
      <button class="ghost" disabled=${!picked.length} onClick=${act((all) => file(all, !archived))}>
        <${Icon} name=${archived ? 'restore' : 'archive'} />${archived ? 'Restore' : 'Archive'}
      </button>
      <button class="ghost danger" disabled=${!picked.length} aria-label="Delete" title="Delete"
        onClick=${act(discard)}>
        <${Icon} name="trash" />
      </button>
      <button class="ghost" ref=${done} aria-label="Done selecting" title="Done" onClick=${chooseNone}>
        <${Icon} name="close" />
      </button>
    </div>`;
}

// The address chooses the tab, and so does a chat that is opened from cold.
effect(() => {
  const { name } = route.value;
  if (name !== 'chat') tab.value = name === 'archived' ? 'archived' : 'recent';
});

let cold = route.peek().name === 'chat';
effect(() => {
  const { state, thread } = opened.value;
  if (!cold || state === 'loading') return;
  cold = false;
  if (thread && isArchived(thread)) tab.value = 'archived';
});

effect(() => { tab.value; chooseNone(); });
