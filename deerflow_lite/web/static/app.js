// The page: the list beside the conversation, and which of them the address means.
// It asks the service for nothing itself.

import { html, render } from './html.js';
import './theme.js';
import { Chat } from './chat/view.js';
import { Header } from './header.js';
import { drawer } from './layout.js';
import { List } from './list/view.js';
import { Missing, Failed, Loading } from './notices.js';
import { opened } from './opened.js';

const PLACES = {
  none: () => html`<${Chat} thread=${null} />`,
  loading: () => html`<${Loading} />`,
  ready: ({ thread }) => html`<${Chat} thread=${thread} />`,
  missing: ({ id }) => html`<${Missing} id=${id} />`,
  failed: ({ error }) => html`<${Failed} error=${error} />`,
};

function Page() {
  const here = opened.value;
  return html`
    <div class="page" data-list=${drawer.value ? 'shown' : 'hidden'}>
      <aside class="side" id="list"><${List} /></aside>
      <main class="main">
        <${Header} thread=${here.thread} />
        ${PLACES[here.state](here)}
      </main>
    </div>`;
}

render(html`<${Page} />`, document.getElementById('page'));
