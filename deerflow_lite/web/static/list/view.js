// The list of chats: its head, the two tabs, the search box and the rows of the chosen tab, page by page.
// What it shows is rows.js's; what is done to a row is actions.js's.

import { html, useEffect, useLayoutEffect, useRef } from '../html.js';
import { sentence } from '../api.js';
import { uncover } from '../layout.js';
import { grouped } from './days.js';
import { Foot, Head } from './edges.js';
import { minute, useFreshness } from './fresh.js';
import { marks, rowNode } from './row.js';
import { TABS, more, query, shown } from './rows.js';
import { Chosen, Search, Tabs, tab } from './tabs.js';
import { choosing } from './selection.js';

/** Draw the whole list. */
export function List() {
  useFreshness();
  return html`
    <${Head} />
    <nav class="chats" aria-label="Chats">
      <${Tabs} />
      ${choosing.value ? html`<${Chosen} />` : html`<${Search} />`}
      <${Rows} key=${`${tab.value} ${query.value}`} name=${tab.value} />
    </nav>
    <${Foot} />`;
}

function Rows({ name }) {
  const list = shown[name].value;
  const look = marks();
  minute.value;
  useLayoutEffect(() => { if (!list.started) more(name); }, [list.started]);
  return html`
    <div class="rows" role="tabpanel" id="rows" aria-labelledby=${`tab-${name}`} aria-busy=${list.loading}
      onKeyDown=${walked}>
      ${grouped(list.rows).map(({ name: group, rows }) => html`
        <section key=${group} aria-label=${group}>
          <h2 class="group">${group}</h2>
          <ul>${rows.map((row) => rowNode(row, look))}</ul>
        </section>`)}
      <${End} list=${list} name=${name} />
    </div>`;
}

/** What stands below the last row: an error, a sign that more is coming, or that this is all. */
function End({ list, name }) {
  if (list.error) return html`<${Failed} error=${list.error} name=${name} some=${list.rows.length > 0} />`;
  if (list.complete && !list.rows.length) return html`<${Nothing} name=${name} />`;
  if (list.complete) return html`<p class="end">${endLine(name, list.rows.length)}</p>`;
  if (!list.rows.length) return html`<${Skeleton} />`;
  return html`<${Next} name=${name} loading=${list.loading} />`;
}

const NAMES = { recent: ['chat', 'chats'], archived: ['archived chat', 'archived chats'] };

function endLine(name, count) {
  const noun = NAMES[name][count === 1 ? 0 : 1];
  if (query.value) return `${count} ${noun} found`;
  return count === 1 ? `That is the only ${noun}` : `That is all: ${count} ${noun}`;
}

/** The place where the next page begins: it loads when it comes into view, or by its button. */
function Next({ name, loading }) {
  const mark = useRef(null);
  useEffect(() => {
    const near = ([entry]) => { if (entry.isIntersecting) more(name); };
    const seen = new IntersectionObserver(near, { rootMargin: '400px' });
    seen.observe(mark.current);
    return () => seen.disconnect();
  }, [loading]);
  return html`
    <p class="end" ref=${mark}>
      <button class="ghost" disabled=${loading} onClick=${() => more(name)}>
        ${loading ? 'Loading…' : 'Load more'}
      </button>
    </p>`;
}

const Failed = ({ error, name, some }) => html`
  <div class="end" role="alert">
    <p>${some ? 'The next chats could not be loaded.' : 'The chats could not be loaded.'} ${sentence(error)}</p>
    <button class="button plain" onClick=${() => more(name)}>Try again</button>
  </div>`;

const Skeleton = () => html`
  <div role="status"><span class="unseen">${query.value ? 'Searching…' : 'Loading the chats…'}</span></div>
  <ul class="skeleton" aria-hidden="true">${[1, 2, 3, 4, 5, 6].map((row) => html`<li key=${row}></li>`)}</ul>`;

function Nothing({ name }) {
  if (query.value) return html`<p class="end" role="status">No title contains “${query.value}”.</p>`;
  if (name === 'archived') {
    return html`<p class="end">Nothing is archived. Archived chats wait here, unchanged, until you restore them.</p>`;
  }
  return html`
    <p class="end">No chats yet.<br /><a href="/chats" onClick=${uncover}>Start the first one</a></p>`;
}

const STEPS = { ArrowDown: 1, ArrowUp: -1 };

/** Walk from row to row with the arrow keys. */
function walked(event) {
  const links = [...event.currentTarget.querySelectorAll('.row-link')];
  const at = links.indexOf(event.target);
  if (!(event.key in STEPS) || at < 0) return;
  event.preventDefault();
  links[at + STEPS[event.key]]?.focus();
}
