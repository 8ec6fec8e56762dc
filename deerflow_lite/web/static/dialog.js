// A dialog over the page: the focus stays in it and is given back; Escape and a click outside close it.
// What stands in it is its caller's.

import { html, useEffect, useId, useRef } from './html.js';
import { Icon } from './icons.js';

/** Draw a dialog for as long as it stands; `close` is called when the reader is done with it. */
export function Dialog({ title, close, kind = 'plain', children }) {
  const box = useRef(null);
  const head = useId();
  useEffect(() => {
    const dialog = box.current;
    const before = document.activeElement;
    dialog.showModal();
    dialog.querySelector('[data-first]')?.focus();
    return () => {
      dialog.close();
      if (before?.isConnected) before.focus();
    };
  }, []);
  const outside = (event) => { if (event.target === box.current) close(); };
  return html`
    <dialog class="dialog" data-kind=${kind} ref=${box} aria-labelledby=${head} onClick=${outside}
      onCancel=${(event) => { event.preventDefault(); close(); }}>
      <div class="dialog-inner">
        <header class="dialog-head">
          <h2 id=${head}>${title}</h2>
          <button class="ghost" aria-label="Close" onClick=${close}><${Icon} name="close" /></button>
        </header>
        ${children}
      </div>
    </dialog>`;
}
