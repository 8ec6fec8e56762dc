// Markdown on the page, block by block: of a text that grows only its last block is made anew.

import { html, useLayoutEffect, useMemo, useRef } from '../html.js';
import { blocks, cut, drawn } from './markdown.js';

/** Draw Markdown; `growing` while more of it may come. */
export function Prose({ text, growing = false }) {
  const last = useRef(null);
  const shown = useMemo(() => {
    last.current = cut(text, growing ? last.current : null);
    return blocks(last.current);
  }, [text, growing]);
  return html`
    <div class="prose" dir="auto">
      ${shown.map((block, number) => html`
        <${Block} key=${number} block=${block} whole=${!growing || number < shown.length - 1} />`)}
    </div>`;
}

function Block({ block, whole }) {
  const place = useRef(null);
  useLayoutEffect(() => { place.current.replaceChildren(drawn(block, whole)); }, [block.raw, block.type, whole]);
  return html`<div class="block" ref=${place}></div>`;
}
