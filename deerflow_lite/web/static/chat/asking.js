// A question that the graph itself asks: what it wants to know, its options as buttons, and a box for any answer.

import { html, useState } from '../html.js';
import { sentence } from '../api.js';
import { composing } from './typing.js';
import { answerQuestion } from './verbs.js';

/** Draw every question that waits on the thread. */
export function Asking({ talk }) {
  const questions = Object.values(talk.thread.value?.interrupts ?? {}).flat();
  if (talk.busy.value || !questions.length) return null;
  return questions.map((question) => html`
    <${One} key=${question.id} talk=${talk} question=${question} alone=${questions.length === 1} />`);
}

function One({ talk, question, alone }) {
  const [text, setText] = useState('');
  const [json, setJson] = useState(false);
  const [refusal, setRefusal] = useState(null);
  const { words, options, rest } = read(question.value);
  const give = (answer) => answerQuestion(talk, question, answer, alone).catch((error) => setRefusal(sentence(error)));
  const submit = (event) => {
    event.preventDefault();
    if (text.trim() === '') return;
    try {
      give(json ? JSON.parse(text) : text);
    } catch (error) {
      setRefusal(`That is no JSON: ${error.message}`);
    }
  };
  const keys = (event) => {
    if (event.key === 'Enter' && !event.shiftKey && !composing(event)) submit(event);
  };
  return html`
    <form class="asking" aria-label="The agent asks" onSubmit=${submit}>
      <h2>${words ?? 'The agent waits for an answer'}</h2>
      ${rest !== undefined && html`<pre tabindex="0"><code>${JSON.stringify(rest, null, 2)}</code></pre>`}
      ${options.length > 0 && html`
        <div class="asking-options">
          ${options.map((option) => html`
            <button type="button" class="button plain" onClick=${() => give(option)}>${shown(option)}</button>`)}
        </div>`}
      <div class="asking-row">
        <textarea class="field" rows="1" dir="auto" aria-label="Your answer" placeholder="Your answer" value=${text}
          onInput=${(event) => setText(event.target.value)} onKeyDown=${keys}></textarea>
        <button class="button" disabled=${text.trim() === ''}>Answer</button>
      </div>
      <label class="quiet">
        <input type="checkbox" checked=${json} onChange=${() => setJson(!json)} /> Send as JSON
      </label>
      ${refusal && html`<p class="refused" role="alert">${refusal}</p>`}
    </form>`;
}

/** Find the words and the options in what a graph interrupts with: text, an object with a question, or any JSON. */
function read(value) {
  if (typeof value === 'string') return { words: value, options: [] };
  const plain = value === null || typeof value !== 'object' || Array.isArray(value);
  if (plain) return { words: null, options: [], rest: value };
  const { question, message, prompt, description, options, ...rest } = value;
  const words = [question, message, prompt, description].find((text) => typeof text === 'string') ?? null;
  const more = words === null ? value : Object.keys(rest).length ? rest : undefined;
  return { words, options: Array.isArray(options) ? options : [], rest: more };
}

const shown = (option) => (typeof option === 'string' ? option : option?.label ?? JSON.stringify(option));
