// The list of chats: a place where it will stand.

import { html } from '../html.js';

export const List = () => html`<nav aria-label="Chats"></nav>`;
