// Where the reader is: the address bar as one signal, and the only way to change it without a reload.
// It draws nothing and loads nothing.

import { signal } from './html.js';

/** `{name: 'new' | 'archived' | 'chat', id}`; `id` only for a chat. */
export const route = signal(read(location.pathname));

/** Go to a path of this page; `replace` leaves no step to come back to. */
export function go(path, { replace = false } = {}) {
  if (path !== location.pathname) history[replace ? 'replaceState' : 'pushState'](null, '', path);
  route.value = read(location.pathname);
}

/** The path of a chat. */
export const chatPath = (id) => `/chats/${encodeURIComponent(id)}`;

function read(path) {
  const [, place, id] = path.replace(/\/+$/, '').split('/');
  if (place !== 'chats' || id === undefined) return { name: 'new', id: null };
  if (id === 'archived') return { name: 'archived', id: null };
  return { name: 'chat', id: decoded(id) };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function followed(event) {
  const link = event.target.closest?.('a[href]');
  const plain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
  if (!link || !plain || event.defaultPrevented || link.target || link.origin !== location.origin) return;
  if (link.pathname !== '/' && !/^\/chats(\/|$)/.test(link.pathname)) return;
  event.preventDefault();
  go(link.pathname);
}

addEventListener('popstate', () => { route.value = read(location.pathname); });
addEventListener('click', followed);
