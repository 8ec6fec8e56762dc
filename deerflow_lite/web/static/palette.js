// The palette: commands and chats by a few letters of their name; chats are searched for by the service.
// It runs what is chosen and holds no command itself.

import { html, signal, useEffect, useRef, useState } from './html.js';
import { aborted, post, sentence } from './api.js';
import { readyCommands, shownKeys } from './commands.js';
import { Dialog } from './dialog.js';
import { uncover } from './layout.js';
import { isArchived, titleOf } from './list/order.js';
import { chatPath, go } from './route.js';

const open = signal(false);
const PAUSE = 150;
const MOST = 8;

/** Show the palette, or close it. */
export function togglePalette() {
  open.value = !open.peek();
}

const close = () => { open.value = false; };

/** Draw the palette while it is open. */
export const Palette = () => (open.value ? html`<${Opened} />` : null);

function useChats(words) {
  const [found, setFound] = useState({ rows: [], state: 'searching', error: null });
  useEffect(() => {
    const asking = new AbortController();
    const timer = setTimeout(async () => {
      const body = { query: words, limit: MOST, select: ['thread_id', 'title', 'metadata', 'updated_at'] };
      try {
        setFound({ rows: await post('/threads/search', body, { signal: asking.signal }), state: 'found', error: null });
      } catch (error) {
        if (!aborted(error)) setFound({ rows: [], state: 'failed', error });
      }
    }, words ? PAUSE : 0);
    return () => { clearTimeout(timer); asking.abort(); };
  }, [words]);
  return found;
}

/** What the words mean now: rows that were found for the words before them are left out. */
function entriesFor(words, rows) {
  const part = words.toLowerCase();
  const commands = readyCommands().filter(({ label, id }) => id !== 'palette' && label.toLowerCase().includes(part));
  const chats = rows.filter((row) => titleOf(row).toLowerCase().includes(part)).map((row) => ({
    id: `chat ${row.thread_id}`, label: titleOf(row), group: 'Chats', note: isArchived(row) ? 'archived' : null,
    run: () => { uncover(); go(chatPath(row.thread_id)); },
  }));
  return words ? [...chats, ...commands] : [...commands, ...chats];
}

function Opened() {
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  const found = useChats(words.trim());
  const entries = entriesFor(words.trim(), found.rows);
  const here = Math.min(at, Math.max(0, entries.length - 1));
  const list = useRef(null);
  useEffect(() => {
    list.current.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [here]);
  const run = (entry) => { close(); requestAnimationFrame(() => entry.run()); };
  const moves = {
    ArrowDown: () => setAt((here + 1) % entries.length),
    ArrowUp: () => setAt((here + entries.length - 1) % entries.length),
    Enter: () => entries[here] && run(entries[here]),
  };
  const keyed = (event) => {
    if (event.isComposing || !(event.key in moves) || (!entries.length && event.key !== 'Enter')) return;
    event.preventDefault();
    moves[event.key]();
  };
  return html`
    <${Dialog} title="Search and commands" kind="palette" close=${close}>
      <input class="field palette-words" role="combobox" aria-expanded="true" aria-controls="palette" data-first
        aria-label="Search chats and commands" placeholder="Search chats and commands" autocomplete="off" value=${words}
        aria-activedescendant=${entries.length ? `palette-${here}` : undefined} onKeyDown=${keyed}
        onInput=${(event) => { setWords(event.target.value); setAt(0); }} />
      <ul class="palette-list" role="listbox" id="palette" aria-label="Found" ref=${list}>
        ${entries.map((entry, place) => html`
          <${Entry} key=${entry.id} entry=${entry} place=${place} here=${place === here} run=${run}
            reach=${() => setAt(place)} />`)}
      </ul>
      <p class="palette-note" role="status">${noteOf(found, entries)}</p>
    <//>`;
}

function noteOf({ state, error }, entries) {
  if (state === 'failed') return `Chats could not be searched. ${sentence(error)}`;
  if (state === 'searching') return 'Searching…';
  return entries.length ? '' : 'Nothing found.';
}

const Entry = ({ entry, place, here, run, reach }) => html`
  <li class="palette-entry" role="option" id=${`palette-${place}`} aria-selected=${here} onPointerMove=${reach}
    onClick=${() => run(entry)}>
    <span class="palette-label" dir="auto">${entry.label}</span>
    <span class="palette-group">${entry.note ?? entry.group}</span>
    ${entry.keys && html`<span class="palette-keys" aria-hidden="true">
      ${shownKeys(entry.keys).map((key) => html`<kbd key=${key}>${key}</kbd>`)}</span>`}
  </li>`;
