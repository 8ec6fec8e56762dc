// What can be done in the open chat, as commands of the palette with their keys.
// It binds nothing itself.

import { useCommands } from '../commands.js';
import { copied } from './copy.js';
import { answerText } from './said.js';
import { noBranch, noRegenerate } from './turns.js';
import { branchOff, regenerate, stop } from './verbs.js';

const GROUP = 'This chat';

/** Offer the commands of a conversation for as long as it stands. */
export function useChatCommands(talk) {
  useCommands(() => commandsOf(talk), [talk]);
}

function commandsOf(talk) {
  const last = () => talk.turns.peek().at(-1);
  const busy = () => talk.busy.peek();
  const here = () => talk.id.peek() !== null;
  const told = (promise) => promise.catch((error) => { talk.said.value = error.detail ?? String(error); });
  const copy = async (text) => {
    talk.said.value = (await copied(text)) ? 'Copied' : 'The browser does not allow copying';
  };
  return [
    { id: 'chat.focus', label: 'Write a message', keys: 'Shift+Escape',
      run: () => document.getElementById('ask').focus() },
    { id: 'chat.copy', label: 'Copy the last answer', keys: 'Mod+Shift+C', ready: () => Boolean(last()),
      run: () => copy(answerText(last().messages)) },
    { id: 'chat.code', label: 'Copy the last code block', keys: 'Mod+Shift+;', ready: () => Boolean(lastCode()),
      run: () => copy(lastCode()) },
    { id: 'chat.stop', label: 'Stop the answer', ready: busy, run: () => told(stop(talk)) },
    { id: 'chat.regenerate', label: 'Regenerate the last answer', ready: () => last() && !noRegenerate(last(), busy()),
      run: () => told(regenerate(talk, last())) },
    { id: 'chat.branch', label: 'Branch from the last answer', ready: () => last() && !noBranch(last()),
      run: () => told(branchOff(talk, last())) },
    { id: 'chat.tree', label: 'Show the tree of this chat', keys: 'Mod+Shift+E', ready: here,
      run: () => panel(talk, 'tree') },
    { id: 'chat.state', label: 'Show the state of this chat', ready: here, run: () => panel(talk, 'state') },
  ].map((command) => ({ group: GROUP, ...command }));
}

function panel(talk, name) {
  talk.panel.value = talk.panel.peek() === name ? null : name;
}

const lastCode = () => [...document.querySelectorAll('.turns .code pre')].at(-1)?.textContent;
