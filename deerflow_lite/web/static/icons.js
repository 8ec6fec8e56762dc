// Line icons, drawn with the colour of the text around them; none of them is read aloud.
// The words for it are the button's.

import { html } from './html.js';

const PATHS = {
  archive: 'M4 8h16v11H4zM3 4h18v4H3zM10 12h4',
  back: 'M15 5l-7 7 7 7',
  branch: 'M7 4v12M7 20a2 2 0 100-4 2 2 0 000 4zM17 9a2 2 0 100-4 2 2 0 000 4zM17 9c0 4-10 2-10 7',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  choose: 'M4 6h3v3H4zM4 15h3v3H4zM11 7.5h9M11 16.5h9',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  dark: 'M20 14.5A8 8 0 019.5 4 8 8 0 1020 14.5z',
  down: 'M12 5v14M6 13l6 6 6-6',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13.5 6.5l4 4',
  file: 'M7 3h7l4 4v14H7zM14 3v4h4',
  forward: 'M9 5l7 7-7 7',
  help: 'M12 21a9 9 0 100-18 9 9 0 000 18zM9.5 9.5a2.5 2.5 0 114 2c-1 .7-1.5 1.2-1.5 2.2M12 17h.01',
  light: 'M12 16a4 4 0 100-8 4 4 0 000 8zM12 3v2M12 19v2M3 12h2M19 12h2'
    + 'M5.6 5.6L7 7M17 17l1.4 1.4M5.6 18.4L7 17M17 7l1.4-1.4',
  list: 'M4 5h16v14H4zM9.5 5v14',
  more: 'M6 11v2M5 12h2M12 11v2M11 12h2M18 11v2M17 12h2',
  pin: 'M12 16v5M8 4h8l-1 6 3 3v2H6v-2l3-3z',
  plus: 'M12 5v14M5 12h14',
  redo: 'M20 12a8 8 0 11-2.5-5.8M20 3v4h-4',
  restore: 'M4 12a8 8 0 102.5-5.8M4 3v4h4',
  search: 'M11 18a7 7 0 100-14 7 7 0 000 14zM20 20l-4-4',
  send: 'M12 19V5M6 11l6-6 6 6',
  state: 'M8 4c-3 0-1 7-4 8 3 1 1 8 4 8M16 4c3 0 1 7 4 8-3 1-1 8-4 8',
  stop: 'M7 7h10v10H7z',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  tool: 'M14.5 6.5a4 4 0 00-5.3 5.3L4 17l3 3 5.2-5.2a4 4 0 005.3-5.3l-2.5 2.5-2.5-.5-.5-2.5z',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10 11v5M14 11v5',
  tree: 'M5 5h5v4H5zM14 5h5v4h-5zM14 15h5v4h-5zM10 7h4M12 7v10h2',
};

/** Draw the icon of this name. */
export const Icon = ({ name }) => html`
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${PATHS[name]} /></svg>`;
