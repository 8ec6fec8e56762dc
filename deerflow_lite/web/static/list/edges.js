// What stands above and below the list: the name and a new chat; the theme, the keys and the API.
// It lists nothing.

import { html } from '../html.js';
import { signedIn } from '../api.js';
import { ariaOf } from '../keys.js';
import { Icon } from '../icons.js';
import { toggleList, uncover } from '../layout.js';
import { showKeys } from '../shortcuts.js';
import { nextTheme, theme } from '../theme.js';

const THEMES = { system: 'as the system', light: 'light', dark: 'dark' };

export const Head = () => html`
  <header class="side-head">
    <a class="brand" href="/" onClick=${uncover}>DeerFlow Lite</a>
    <button class="ghost" aria-label="Hide the list" title="Hide the list" aria-keyshortcuts=${ariaOf('list.toggle')}
      onClick=${toggleList}><${Icon} name="list" /></button>
  </header>
  <p class="side-new">
    <a class="button plain" href="/chats" aria-keyshortcuts=${ariaOf('chat.new')} onClick=${uncover}>
      <${Icon} name="plus" />New chat
    </a>
  </p>`;

export const Foot = () => html`
  <footer class="side-foot">
    <button class="ghost" aria-label=${`Theme: ${THEMES[theme.value]}`} title=${`Theme: ${THEMES[theme.value]}`}
      onClick=${nextTheme}><${Icon} name=${theme.value} /></button>
    <button class="ghost" aria-label="Keyboard shortcuts" title="Keyboard shortcuts" aria-haspopup="dialog"
      aria-keyshortcuts=${ariaOf('keys.show')} onClick=${showKeys}><${Icon} name="help" /></button>
    ${signedIn() && html`<a class="ghost" href="/signin">Account</a>`}
    <a class="ghost" href="/docs">API</a>
  </footer>`;
