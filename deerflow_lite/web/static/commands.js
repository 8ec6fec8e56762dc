// What the reader can do, each once: the palette lists it, the keys start it, the "?" dialog names it.
// It binds no key and draws nothing. A view adds its commands while it stands and takes them back with it.

import { signal, useEffect } from './html.js';

/** All by id: `{id, label, group, keys?, run, ready?}`; `keys` like "Mod+/ ?"; a false `ready()` hides one. */
export const commands = signal(new Map());

/** Add commands and give the function that takes them back. */
export function provide(...added) {
  commands.value = new Map([...commands.peek(), ...added.map((each) => [each.id, each])]);
  return () => { commands.value = new Map([...commands.peek()].filter(([, each]) => !added.includes(each))); };
}

/** The commands of a view, for as long as it stands; `depends` as in useEffect. */
export function useCommands(make, depends) {
  useEffect(() => provide(...make()), depends);
}

/** The commands that can be started now. */
export const readyCommands = () => [...commands.value.values()].filter(({ ready }) => ready?.() ?? true);

const APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

/** The keys as `aria-keyshortcuts` wants them. */
export const ariaKeys = (keys) => keys.replaceAll('Mod', APPLE ? 'Meta' : 'Control');

/** The keys as they are printed on this machine; of several, the first. */
export const shownKeys = (keys) =>
  keys.split(' ')[0].split('+').map((key) => (key === 'Mod' ? (APPLE ? '⌘' : 'Ctrl') : key));
