// Markdown as safe DOM: what a model wrote never becomes a script, a style, a form, or a request to anywhere.
// Raw HTML in it is shown as the text that it is; pictures from elsewhere are links.

import { Marked } from '../vendor/marked/marked.js';
import DOMPurify from '../vendor/dompurify/purify.js';
import { framed } from './code.js';

const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,/;
const LINK = /^(https?:|mailto:|#|\/(?!\/))/i;
const RULES = {
  RETURN_DOM_FRAGMENT: true,
  ALLOWED_TAGS: [
    'a', 'blockquote', 'br', 'code', 'del', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'img', 'input', 'li', 'ol',
    'p', 'pre', 'strong', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul',
  ],
  ALLOWED_ATTR: ['align', 'alt', 'checked', 'class', 'disabled', 'href', 'src', 'start', 'title', 'type'],
  ALLOW_DATA_ATTR: false,
};

const escaped = (text) =>
  String(text).replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);

const marked = new Marked({
  gfm: true,
  breaks: false,
  renderer: {
    html: ({ text }) => escaped(text),
    image({ href, title, text }) {
      if (PICTURE.test(href)) return `<img src="${escaped(href)}" alt="${escaped(text)}">`;
      return `<a href="${escaped(href)}" title="${escaped(title ?? href)}">${escaped(text || href)}</a>`;
    },
  },
});

/**
 * Cut a text into blocks that can be drawn one by one: `{text, tokens}`. `before` is the cut of what the text began
 * with: only its last block can still change, so that a text that grows is read once.
 */
export function cut(text, before = null) {
  const plainText = text.replace(/\r\n?/g, '\n');
  const kept = before && plainText.startsWith(before.text) ? settled(before.tokens) : [];
  const length = kept.reduce((sum, { raw }) => sum + raw.length, 0);
  return { text: plainText, tokens: [...kept, ...read(plainText.slice(length))] };
}

/** The blocks of a cut, without the space between them. */
export const blocks = ({ tokens }) => tokens.filter(({ type }) => type !== 'space' && type !== 'def');

const settled = (tokens) => tokens.slice(0, Math.max(tokens.findLastIndex(({ type }) => type !== 'space'), 0));

/** Text that is too deeply nested is one block, shown as it was written. */
function read(text) {
  try {
    return marked.lexer(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ type: 'plain', raw: text }];
  }
}

/** Make the DOM of one block. `whole`: no more of it will come, so that code is coloured. */
export function drawn(block, whole) {
  try {
    return block.type === 'plain' ? plain(block.raw) : safe(marked.parser([block]), whole);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return plain(block.raw);
  }
}

function plain(text) {
  const made = document.createElement('p');
  made.className = 'as-written';
  made.textContent = text;
  return made;
}

function safe(markup, whole) {
  const made = DOMPurify.sanitize(markup, RULES);
  made.querySelectorAll('a').forEach(outward);
  made.querySelectorAll('input').forEach(ticked);
  made.querySelectorAll('table').forEach(scrolled);
  made.querySelectorAll('pre > code').forEach((code) => framed(code, whole));
  return made;
}

function outward(link) {
  if (!LINK.test(link.getAttribute('href') ?? '')) return link.replaceWith(...link.childNodes);
  link.target = '_blank';
  link.rel = 'noopener noreferrer nofollow';
}

/** Of a task list only the state stays: its box cannot be used. */
function ticked(box) {
  box.replaceWith(box.checked ? '☑ ' : '☐ ');
}

/** A wide table scrolls by itself, also by keyboard. */
function scrolled(table) {
  const frame = document.createElement('div');
  frame.className = 'wide';
  frame.tabIndex = 0;
  frame.setAttribute('role', 'region');
  frame.setAttribute('aria-label', 'Table');
  table.replaceWith(frame);
  frame.append(table);
}
