// The conversation: a place where it will stand.

import { html } from '../html.js';

/** Draw the conversation of a thread, or of a new one (null). */
export function Chat({ thread }) {
  return html`<div class="chat" data-thread=${thread?.thread_id ?? ''}></div>`;
}
