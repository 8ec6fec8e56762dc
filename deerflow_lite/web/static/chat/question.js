// What a user asked, as plain text, and the box in which it is asked otherwise.

import { html, useEffect, useRef, useState } from '../html.js';
import { sentence } from '../api.js';
import { Icon } from '../icons.js';
import { attachments, questionText } from './said.js';
import { composing, fitted } from './typing.js';

/** Draw one message of a user; `tools` are the buttons under it. */
export function Question({ message, tools = null }) {
  const text = questionText(message);
  return html`
    <div class="question">
      <h2 class="unseen">You</h2>
      <div class="question-text" dir="auto">${text}</div>
      ${attachments(message).map((name) => html`<span class="chip"><${Icon} name="file" />${name}</span>`)}
      ${tools}
    </div>`;
}

/** Draw the box that edits a question: Ctrl+Enter asks, Esc leaves it as it was. */
export function EditBox({ message, onSave, onCancel }) {
  const before = questionText(message);
  const [text, setText] = useState(before);
  const [failure, setFailure] = useState(null);
  const box = useRef(null);
  const unchanged = text.trim() === '' || text.trim() === before.trim();

  useEffect(() => {
    box.current.focus();
    box.current.setSelectionRange(before.length, before.length);
  }, []);
  useEffect(() => fitted(box.current), [text]);

  const save = (event) => {
    event.preventDefault();
    if (!unchanged) onSave(text.trim()).catch((error) => setFailure(sentence(error)));
  };
  const keys = (event) => {
    if (composing(event)) return;
    if (event.key === 'Escape') { event.stopPropagation(); onCancel(); }
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save(event);
  };
  return html`
    <form class="question edit" onSubmit=${save}>
      <textarea class="field" ref=${box} rows="2" dir="auto" aria-label="Edit the question" value=${text}
        onInput=${(event) => setText(event.target.value)} onKeyDown=${keys}></textarea>
      ${failure && html`<p class="refused" role="alert">${failure}</p>`}
      <div class="edit-buttons">
        <span class="quiet">The old question and its answer are kept.</span>
        <button type="button" class="button plain" onClick=${onCancel}>Cancel</button>
        <button class="button" disabled=${unchanged}>Ask this</button>
      </div>
    </form>`;
}
