// The page: the list beside the conversation, which of them the address means, and what can be done anywhere.
// It asks the service for nothing itself.

import { html, render, useEffect, useLayoutEffect } from './html.js';
import { PanelButtons } from './chat/panels.js';
import { Chat } from './chat/view.js';
import { provide } from './commands.js';
import { Header } from './header.js';
import { drawer, narrow, toggleList, uncover } from './layout.js';
import { List } from './list/view.js';
import { showTab } from './list/tabs.js';
import { Menu } from './menu.js';
import { Failed, Missing } from './notices.js';
import { opened } from './opened.js';
import { Palette, togglePalette } from './palette.js';
import { go, route } from './route.js';
import { Shortcuts, showKeys } from './shortcuts.js';
import { nextTheme } from './theme.js';
import { Toasts, lastAction } from './toast.js';

const chat = ({ id }) => html`<${Chat} id=${id} />`;

const PLACES = {
  none: chat,
  loading: chat,
  ready: chat,
  missing: ({ id }) => html`<${Missing} id=${id} />`,
  failed: ({ error }) => html`<${Failed} error=${error} />`,
};

function Page() {
  const here = opened.value;
  const covered = narrow.value && drawer.value;
  useEffect(() => { document.title = titleOf(here, route.value); }, [here, route.value]);
  useLayoutEffect(() => (covered ? overlaid() : undefined), [covered]);
  return html`
    <a class="skip" href="#main">Skip to the conversation</a>
    <div class="page" data-list=${drawer.value ? 'shown' : 'hidden'}>
      <aside class="side" id="list" tabindex="-1" aria-label="List of chats" hidden=${!drawer.value}><${List} /></aside>
      ${covered && html`<div class="cover" onClick=${uncover}></div>`}
      <main class="main" id="main" tabindex="-1" inert=${covered}>
        <${Header} thread=${here.thread} name=${NAMES[here.state]}><${PanelButtons} thread=${here.thread} /><//>
        ${PLACES[here.state](here)}
      </main>
    </div>
    <${Menu} /><${Toasts} /><${Palette} /><${Shortcuts} />`;
}

/** Take the focus into the list while it covers the conversation, and give it back; Escape ends that. */
function overlaid() {
  document.getElementById('list').focus();
  const keyed = (event) => {
    if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector('dialog:modal')) uncover();
  };
  addEventListener('keydown', keyed);
  return () => {
    removeEventListener('keydown', keyed);
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) document.querySelector('.bar [aria-expanded]')?.focus();
    });
  };
}

const NAMES = { none: 'New chat', loading: 'Opening…', missing: 'No such chat', failed: 'Not opened' };

function titleOf({ state, thread }, { name }) {
  const place = name === 'archived' ? 'Archived' : thread?.title ?? NAMES[state] ?? 'New chat';
  return `${place} · DeerFlow Lite`;
}

function newChat() {
  uncover();
  go('/chats');
  requestAnimationFrame(() => document.getElementById('ask')?.focus());
}

function searchTitles() {
  if (!drawer.peek()) toggleList();
  requestAnimationFrame(() => document.getElementById('search')?.focus());
}

function showArchived() {
  if (!drawer.peek()) toggleList();
  showTab('archived');
}

provide(...[
  { id: 'palette', label: 'Search and commands', keys: 'Mod+K', run: togglePalette, overDialogs: true },
  { id: 'chat.new', label: 'New chat', keys: 'Mod+Shift+O', run: newChat },
  { id: 'list.search', label: 'Search titles', keys: '/', run: searchTitles },
  { id: 'list.toggle', label: 'Show or hide the list', keys: 'Mod+B', run: toggleList },
  { id: 'list.archived', label: 'Show archived chats', run: showArchived },
  { id: 'undo', label: 'Undo', keys: 'Mod+Z', ready: () => lastAction() !== null, run: () => lastAction().run() },
  { id: 'theme', label: 'Change the theme', run: nextTheme },
  { id: 'keys.show', label: 'Keyboard shortcuts', keys: '? Mod+/', run: showKeys },
].map((command) => ({ group: 'Page', ...command })));

render(html`<${Page} />`, document.getElementById('page'));
