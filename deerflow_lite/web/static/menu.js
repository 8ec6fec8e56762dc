// The one menu of the page: opened at a button, walked with the arrow keys, closed by Escape or a click elsewhere.
// It knows no action: each entry brings its own.

import { html, signal, useEffect, useRef } from './html.js';
import { Icon } from './icons.js';

const GAP = 4;
const menu = signal(null);

/** Open the menu at a button; entries are `{label, icon, run, danger?, disabled?}`. Again at the same one closes it. */
export function toggleMenu(anchor, entries) {
  menu.value = menu.peek()?.anchor === anchor ? null : { anchor, entries, label: anchor.getAttribute('aria-label') };
}

/** True while the menu of this button is open. */
export const menuAt = (anchor) => anchor !== null && menu.value?.anchor === anchor;

function close({ focus = true } = {}) {
  const anchor = menu.peek()?.anchor;
  menu.value = null;
  if (focus && anchor?.isConnected) anchor.focus();
}

const MOVES = {
  ArrowDown: (at, count) => (at + 1) % count,
  ArrowUp: (at, count) => (at + count - 1) % count,
  Home: () => 0,
  End: (at, count) => count - 1,
};

function keyed(event) {
  const entries = [...event.currentTarget.querySelectorAll('[role=menuitem]')];
  if (event.key === 'Escape' || event.key === 'Tab') {
    if (event.key === 'Escape') event.preventDefault();
    event.stopPropagation();
    close();
  } else if (event.key in MOVES) {
    event.preventDefault();
    entries[MOVES[event.key](entries.indexOf(document.activeElement), entries.length)].focus();
  }
}

/** Stand below the button, above it where there is no room, and within the window. */
function stand(box, anchor) {
  const at = anchor.getBoundingClientRect();
  const { offsetHeight: height, offsetWidth: width } = box;
  const below = at.bottom + GAP;
  const top = below + height > innerHeight ? Math.max(GAP, at.top - GAP - height) : below;
  Object.assign(box.style, {
    top: `${top}px`,
    left: `${Math.max(GAP, Math.min(at.right - width, innerWidth - width - GAP))}px`,
  });
}

/** Draw the menu that is open. */
export function Menu() {
  const open = menu.value;
  return open ? html`<${Entries} key=${open.anchor} ...${open} />` : null;
}

function Entries({ anchor, entries, label }) {
  const box = useRef(null);
  useEffect(() => {
    box.current.showPopover();
    stand(box.current, anchor);
    box.current.querySelector('[role=menuitem]').focus();
  }, []);
  const toggled = (event) => {
    if (event.newState === 'closed' && menu.peek()?.anchor === anchor) close({ focus: false });
  };
  return html`
    <div class="menu" role="menu" popover="auto" aria-label=${label} ref=${box} onKeyDown=${keyed} onToggle=${toggled}>
      ${entries.map(({ label: name, icon, run, danger, disabled }) => html`
        <button class="menu-entry" role="menuitem" tabindex="-1" data-danger=${danger} aria-disabled=${disabled}
          onClick=${() => { if (!disabled) { close(); run(); } }}>
          <${Icon} name=${icon} />${name}
        </button>`)}
    </div>`;
}
