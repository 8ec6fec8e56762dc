// Code blocks: their language, their colours, their copy button.
// The languages are the few whose grammars are vendored; anything else stays as it was written.

import hljs from '../vendor/highlight/core.js';
import { copied } from './copy.js';

const MOST = 60_000; // characters; beyond, colouring would hold the page up
const GRAMMARS = {
  bash: 'bash', sh: 'bash', shell: 'bash', zsh: 'bash', console: 'bash', c: 'c', h: 'c', cpp: 'cpp', 'c++': 'cpp',
  css: 'css', diff: 'diff', patch: 'diff', dockerfile: 'dockerfile', docker: 'dockerfile', go: 'go', golang: 'go',
  ini: 'ini', toml: 'ini', java: 'java', javascript: 'javascript', js: 'javascript', jsx: 'javascript',
  json: 'json', jsonc: 'json', markdown: 'markdown', md: 'markdown', python: 'python', py: 'python', rust: 'rust',
  rs: 'rust', sql: 'sql', typescript: 'typescript', ts: 'typescript', tsx: 'typescript', xml: 'xml', html: 'xml',
  svg: 'xml', yaml: 'yaml', yml: 'yaml',
};

/** Give a code block its head, and its colours once it is whole. */
export function framed(code, whole) {
  const named = /language-([\w+#.-]+)/.exec(code.className)?.[1].toLowerCase() ?? '';
  const block = code.parentElement;
  const frame = document.createElement('div');
  block.tabIndex = 0;
  code.className = '';
  frame.className = 'code';
  block.replaceWith(frame);
  frame.append(head(named, code), block);
  if (whole && GRAMMARS[named] && code.textContent.length <= MOST) coloured(code, GRAMMARS[named]);
}

/** Colour code by a grammar, which is asked for when it is first needed; without it the code stays as it is. */
async function coloured(code, language) {
  const text = code.textContent;
  if (!hljs.getLanguage(language)) {
    const grammar = await import(`../vendor/highlight/${language}.js`).catch(() => null);
    if (!grammar) return;
    hljs.registerLanguage(language, grammar.default);
  }
  code.innerHTML = hljs.highlight(text, { language, ignoreIllegals: true }).value;
  code.className = 'hljs';
}

function head(named, code) {
  const made = document.createElement('div');
  const language = document.createElement('span');
  const button = document.createElement('button');
  made.className = 'code-head';
  language.textContent = named || 'text';
  button.type = 'button';
  button.className = 'ghost code-copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', named ? `Copy ${named} code` : 'Copy code');
  button.addEventListener('click', () => copyOf(code, button));
  made.append(language, button);
  return made;
}

async function copyOf(code, button) {
  button.textContent = (await copied(code.textContent.replace(/\n$/, ''))) ? 'Copied' : 'Copying is blocked';
  setTimeout(() => { button.textContent = 'Copy'; }, 2000);
}
