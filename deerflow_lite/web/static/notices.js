// What stands in place of a conversation that cannot be shown.

import { html } from './html.js';
import { sentence } from './api.js';
import { reopen } from './opened.js';

export const Missing = ({ id }) => html`
  <section class="notice" aria-labelledby="missing">
    <h2 id="missing">There is no such chat</h2>
    <p>Nothing is kept under <code>${id}</code>. It may have been deleted, or the address is mistyped.</p>
    <p><a class="button" href="/chats">Start a new chat</a></p>
  </section>`;

export const Failed = ({ error }) => html`
  <section class="notice" role="alert">
    <h2>The chat could not be opened</h2>
    <p>${sentence(error)}</p>
    <p><button class="button" onClick=${reopen}>Try again</button></p>
  </section>`;
