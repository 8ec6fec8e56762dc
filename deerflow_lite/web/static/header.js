// The line above a conversation: its title to be renamed, its menu, and the banner that it is archived.
// What is done to the chat is list/actions.js's.

import { html, signal, useRef } from './html.js';
import { useCommands } from './commands.js';
import { Icon } from './icons.js';
import { ariaOf } from './keys.js';
import { drawer, toggleList } from './layout.js';
import { discard, file, pin, rename } from './list/actions.js';
import { isArchived, isPinned, titleOf } from './list/order.js';
import { entriesOf } from './list/row.js';
import { TitleBox } from './list/title.js';
import { menuAt, toggleMenu } from './menu.js';

const renaming = signal(null);

/** Draw the title line of the open thread, or of none (null) with `name`; `children` stand before the menu. */
export function Header({ thread, name, children }) {
  useThreadCommands(thread);
  return html`
    <header class="bar">
      ${!drawer.value && html`
        <button class="ghost" aria-label="Show the list" title="Show the list" aria-expanded="false"
          aria-keyshortcuts=${ariaOf('list.toggle')} onClick=${toggleList}><${Icon} name="list" /></button>`}
      <${Title} thread=${thread} name=${name} />
      ${thread && html`<div class="bar-tools">${children}<${More} thread=${thread} /></div>`}
    </header>
    ${thread && isArchived(thread) && html`<${Banner} thread=${thread} />`}`;
}

function Title({ thread, name }) {
  if (!thread) return html`<h1 class="bar-title">${name}</h1>`;
  if (renaming.value === thread.thread_id) {
    return html`<${TitleBox} title=${titleOf(thread)} save=${(title) => rename(thread, title)}
      ended=${ended} />`;
  }
  return html`<h1 class="bar-title" dir="auto" title=${titleOf(thread)}>${titleOf(thread)}</h1>`;
}

function ended() {
  renaming.value = null;
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.querySelector('.bar [aria-haspopup=menu]')?.focus();
  });
}

function More({ thread }) {
  const button = useRef(null);
  const entries = () => entriesOf(thread, () => { renaming.value = thread.thread_id; });
  return html`
    <button class="ghost" ref=${button} aria-label="More for this chat" aria-haspopup="menu"
      aria-expanded=${menuAt(button.current)} onClick=${() => toggleMenu(button.current, entries())}>
      <${Icon} name="more" />
    </button>`;
}

const Banner = ({ thread }) => html`
  <div class="banner" role="note">
    <span><${Icon} name="archive" />This chat is archived.<em>It can go on all the same.</em></span>
    <button class="button plain" onClick=${() => file([thread], false)}>Restore chat</button>
  </div>`;

function useThreadCommands(thread) {
  useCommands(() => (thread ? commandsOf(thread) : []), [thread]);
}

const commandsOf = (thread) => [
  { id: 'thread.rename', label: 'Rename this chat', keys: 'F2', run: () => { renaming.value = thread.thread_id; } },
  { id: 'thread.pin', label: isPinned(thread) ? 'Unpin this chat' : 'Pin this chat', run: () => pin(thread) },
  {
    id: 'thread.archive', keys: 'Mod+Shift+X E', label: isArchived(thread) ? 'Restore this chat' : 'Archive this chat',
    run: () => file([thread], !isArchived(thread)),
  },
  { id: 'thread.delete', label: 'Delete this chat', keys: 'Mod+Shift+Backspace', run: () => discard([thread]) },
].map((command) => ({ group: 'This chat', ...command }));
