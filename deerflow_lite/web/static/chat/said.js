// What messages say: text, reasoning, tool calls with their results; pure functions over the API's JSON.
// Nothing is drawn here, and nothing of a message is taken for markup.

const ANSWERS = ['ai', 'AIMessageChunk'];

export const hidden = (message) => message.additional_kwargs?.hide_from_ui === true;
export const isQuestion = (message) => message.type === 'human' && !hidden(message);
export const isAnswer = (message) => ANSWERS.includes(message.type) && !hidden(message);

/** The text of a content: of a string itself, of a list its text blocks. */
export function textOf(content) {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block) => (typeof block === 'string' ? block : block?.text ?? '')).filter(Boolean).join('\n');
}

/** What a user wrote, without what a middleware may have put around it. */
export const questionText = (message) =>
  textOf(message.additional_kwargs?.original_user_content ?? message.content);

/** The blocks of a content that are neither text nor reasoning, as short names: "image", "file". */
export function attachments(message) {
  const blocks = Array.isArray(message.content) ? message.content : [];
  const others = blocks.filter((block) => block && typeof block === 'object' && !('text' in block) && !thought(block));
  return others.map((block) => String(block.filename ?? block.name ?? block.type ?? 'file').replace(/_url$/, ''));
}

function reasoning(message) {
  const blocks = Array.isArray(message.content) ? message.content.map(thought).filter(Boolean) : [];
  const texts = [message.additional_kwargs?.reasoning_content, ...blocks];
  return texts.filter((text) => typeof text === 'string').join('\n');
}

const thought = (block) => block?.thinking ?? block?.reasoning ?? (block?.type === 'reasoning' ? block.text ?? '' : '');

/** The parts of an answer in order, `{kind: 'reasoning' | 'text' | 'tool', key, ...}`; results with their calls. */
export function parts(messages) {
  const results = new Map(messages.filter(isResult).map((message) => [message.tool_call_id, message]));
  const found = [];
  for (const message of messages) {
    if (isAnswer(message)) found.push(...spoken(message, results));
    else if (isResult(message) && !called(messages, message)) found.push(orphan(message));
  }
  return found;
}

const isResult = (message) => message.type === 'tool' && !hidden(message);
const called = (messages, result) =>
  messages.some((message) => calls(message).some((call) => call.id === result.tool_call_id));
const orphan = (message) => ({ kind: 'tool', key: message.id, name: message.name, args: '', result: message });

function spoken(message, results) {
  const told = [
    { kind: 'reasoning', key: `${message.id}.reasoning`, text: reasoning(message) },
    { kind: 'text', key: `${message.id}.text`, text: words(message.content), cut: cutOff(message) },
  ].filter((part) => part.text);
  const asked = calls(message).map((call, number) => ({
    kind: 'tool', key: `${message.id}.${number}`, name: call.name, args: call.args,
    result: results.get(call.id) ?? null,
  }));
  return [...told, ...asked];
}

/** Whether a message never reached the state: it is what was said before the run was stopped or failed. */
const cutOff = (message) => message.additional_kwargs?.deerflow_interrupted === true;

const words = (content) =>
  textOf(Array.isArray(content) ? content.filter((block) => !thought(block)) : content);

/** The tool calls of a message; while it streams their arguments are text that grows. */
export function calls(message) {
  if (message.type === 'AIMessageChunk' && message.tool_call_chunks?.length) return message.tool_call_chunks;
  return message.tool_calls ?? [];
}

/** Whether a tool that was called has not answered: such a turn can be neither edited nor regenerated. */
export function openCall(messages) {
  const answered = new Set(messages.filter(isResult).map((message) => message.tool_call_id));
  return messages.some((message) => calls(message).some((call) => !answered.has(call.id)));
}

/** The answer's own words, as the model wrote them. */
export const answerText = (messages) =>
  messages.filter(isAnswer).map((message) => words(message.content)).filter(Boolean).join('\n\n');

/** The last message of an answer that people see: the one that the API's verbs name a turn by. */
export const lastAnswer = (messages) => messages.findLast(isAnswer) ?? null;

/** A message with the next chunk of it added. */
export function grown(message, chunk) {
  return {
    ...message,
    content: joined(message.content, chunk.content),
    additional_kwargs: thoughts(message.additional_kwargs, chunk.additional_kwargs),
    tool_call_chunks: joinedCalls(message.tool_call_chunks ?? [], chunk.tool_call_chunks ?? []),
  };
}

function joined(before, more) {
  if (typeof before === 'string' && typeof more === 'string') return before + more;
  return listed(more).reduce(withBlock, listed(before));
}

const listed = (content) =>
  (Array.isArray(content) ? content : content ? [{ type: 'text', text: content, index: 0 }] : []);

function withBlock(blocks, block) {
  const place = blocks.findIndex((one) => one.index !== undefined && one.index === block.index);
  if (place < 0) return [...blocks, block];
  const whole = { ...blocks[place] };
  for (const [name, value] of Object.entries(block)) {
    const adds = ['text', 'thinking', 'reasoning', 'input'].includes(name) && typeof whole[name] === 'string';
    whole[name] = adds ? whole[name] + value : value;
  }
  return blocks.with(place, whole);
}

function thoughts(before = {}, more = {}) {
  if (!more.reasoning_content) return { ...before, ...more };
  return { ...before, ...more, reasoning_content: (before.reasoning_content ?? '') + more.reasoning_content };
}

function joinedCalls(before, more) {
  return more.reduce((known, chunk) => {
    const place = known.findIndex((one) => one.index === chunk.index);
    if (place < 0) return [...known, chunk];
    const { name, id, args } = known[place];
    return known.with(place, {
      ...known[place], name: name || chunk.name, id: id || chunk.id, args: (args ?? '') + (chunk.args ?? ''),
    });
  }, before);
}

const ROLES = { user: 'human', assistant: 'ai' };

/** The messages of a run's input, whichever way it names their kinds. */
export const sent = (messages) =>
  (Array.isArray(messages) ? messages : []).map((one) => ({ type: ROLES[one.role] ?? one.role, ...one }));

/** An error of a run in one line. */
export const said = (error) => [error.error, error.message].filter(Boolean).join(': ');
