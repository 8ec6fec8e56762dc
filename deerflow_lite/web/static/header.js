// The line above a conversation: its title, and whether it is archived.
// What can be done to the chat is its menu's.

import { html } from './html.js';
import { Icon } from './icons.js';
import { drawer, toggleList } from './layout.js';

/** Draw the title line of the open thread, or of a new chat (null). */
export function Header({ thread }) {
  return html`
    <header class="bar">
      <button class="ghost" aria-label="Chat list" aria-expanded=${drawer.value} aria-controls="list"
        onClick=${toggleList}>
        <${Icon} name="list" />
      </button>
      <h1 class="bar-title" dir="auto">${thread ? thread.title ?? 'New chat' : 'New chat'}</h1>
    </header>`;
}
