// Starts commands by their keys; it can be switched off, and then hears nothing.
// It knows no command of its own. A key that writes something is never taken from somebody who is typing.

import { ariaKeys, commands, readyCommands } from './commands.js';
import { keptSignal } from './storage.js';

/** "on" or "off". */
export const keysOn = keptSignal('keys', 'on');

/** The `aria-keyshortcuts` of a command, none while the keys are off. */
export function ariaOf(id) {
  const keys = commands.value.get(id)?.keys;
  return keys && keysOn.value === 'on' ? ariaKeys(keys) : undefined;
}

const TYPING = 'input:not([type=checkbox]), textarea, select, [contenteditable]';

/** Say whether an event is one of these keys; letters go by what is printed on the key, whatever Shift makes of it. */
export const pressed = (event, keys) => keys.split(' ').some((each) => isKey(event, each));

function isKey(event, keys) {
  const parts = keys.split('+');
  const key = parts.pop();
  const mod = event.ctrlKey || event.metaKey;
  if (event.altKey || mod !== parts.includes('Mod')) return false;
  const same = event.key.toLowerCase() === key.toLowerCase() || (mod && event.code === codeOf(key));
  return same && (event.shiftKey === parts.includes('Shift') || (!mod && key === '?'));
}

const CODES = { ';': 'Semicolon', '/': 'Slash' };
const codeOf = (key) => CODES[key] ?? (/^[A-Z]$/.test(key) ? `Key${key}` : key);

addEventListener('keydown', (event) => {
  if (keysOn.peek() === 'off' || event.isComposing || event.defaultPrevented || event.repeat) return;
  const found = readyCommands().find(({ keys }) => keys && pressed(event, keys));
  if (!found) return;
  const bare = !event.ctrlKey && !event.metaKey && event.key.length === 1;
  const undoing = found.keys === 'Mod+Z';
  if ((bare || undoing) && event.target.closest?.(TYPING)) return;
  if (document.querySelector('dialog:modal') && !found.overDialogs) return;
  event.preventDefault();
  found.run();
});
