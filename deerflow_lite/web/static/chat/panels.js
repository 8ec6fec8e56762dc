// What stands beside a conversation, one at a time: its tree, or its state. Where there is little room it
// covers the page, and the native dialog keeps the focus in it and gives it back.

import { html, useLayoutEffect, useRef } from '../html.js';
import { Icon } from '../icons.js';
import { ariaOf } from '../keys.js';
import { tight } from '../layout.js';
import { StatePanel } from '../state/panel.js';
import { TreePanel } from '../tree/panel.js';
import { talkOf } from './conversation.js';

const PANELS = {
  tree: { title: 'Tree', Body: TreePanel },
  state: { title: 'State', Body: StatePanel },
};

/** Draw the panel that is open. */
export function Panels({ talk }) {
  const open = talk.id.value === null ? null : PANELS[talk.panel.value];
  return open ? html`<${Panel} key=${talk.panel.value} talk=${talk} ...${open} />` : null;
}

function Panel({ talk, title, Body }) {
  const dialog = useRef(null);
  const over = tight.value;
  const close = () => { talk.panel.value = null; };
  useLayoutEffect(() => {
    const before = document.activeElement;
    if (over) dialog.current.showModal();
    else dialog.current.show();
    return () => {
      if (dialog.current?.open) dialog.current.close();
      if (before?.isConnected) before.focus();
    };
  }, [over]);
  const outside = (event) => { if (over && event.clientX < dialog.current.getBoundingClientRect().left) close(); };
  const keys = (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  return html`
    <dialog class="panel" ref=${dialog} aria-label=${title} onKeyDown=${keys} onCancel=${close}
      onClick=${outside}>
      <header class="panel-head">
        <h2>${title}</h2>
        <button class="ghost" aria-label=${`Close: ${title}`} onClick=${close}><${Icon} name="close" /></button>
      </header>
      <${Body} talk=${talk} close=${() => over && close()} />
    </dialog>`;
}

/** Draw the buttons of the title line that open the panels of a thread. */
export function PanelButtons({ thread }) {
  const talk = talkOf(thread.thread_id);
  return Object.entries(PANELS).map(([name, { title }]) => html`
    <button class="ghost" aria-label=${`${title} of this chat`} title=${title}
      aria-expanded=${talk.panel.value === name} aria-keyshortcuts=${ariaOf(`chat.${name}`)}
      onClick=${() => { talk.panel.value = talk.panel.peek() === name ? null : name; }}>
      <${Icon} name=${name} />
    </button>`);
}
