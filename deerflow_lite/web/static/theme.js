// Light, dark or as the system has it; the choice is kept, and `early.js` sets it before the first paint.
// No colour stands here.

import { effect } from './html.js';
import { keptSignal } from './storage.js';

export const THEMES = ['system', 'light', 'dark'];
export const theme = keptSignal('theme', 'system');

/** Go on to the next of the three. */
export function nextTheme() {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length];
}

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});
