// The box in which a title is written: Enter or leaving it saves, Escape keeps the old one, a blank one is refused.
// Enter that ends a composition of an input method does not save.

import { html, useEffect, useId, useRef, useState } from '../html.js';

const LONGEST = 256;

/** Draw the box; `save(title)` gives null or why not, `ended()` is called when it is done with. */
export function TitleBox({ title, save, ended }) {
  const box = useRef(null);
  const done = useRef(false);
  const [wrong, setWrong] = useState(null);
  const note = useId();
  useEffect(() => {
    box.current.value = title;
    box.current.select();
  }, []);

  const finish = async (leaving) => {
    if (done.current) return;
    const wanted = box.current.value.trim();
    if (wanted === title || (leaving && !wanted)) return end();
    if (!wanted) return setWrong('A title cannot be blank.');
    done.current = true;
    const problem = await save(wanted);
    if (problem === null) return end();
    done.current = false;
    return setWrong(problem);
  };
  const end = () => { done.current = true; ended(); };
  const keyed = (event) => {
    if (event.isComposing || !['Enter', 'Escape'].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Enter') finish(false);
    else end();
  };
  return html`
    <div class="title-box">
      <input class="field" ref=${box} maxlength=${LONGEST} aria-label="Title" dir="auto"
        spellcheck=${false} aria-invalid=${wrong !== null} aria-describedby=${note} onKeyDown=${keyed}
        onBlur=${() => finish(true)} />
      <p class="title-wrong" id=${note} role="alert">${wrong}</p>
    </div>`;
}
