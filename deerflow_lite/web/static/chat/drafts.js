// What was typed and not sent, for each chat; it outlives a reload.

import { keep, kept } from '../storage.js';

const name = (threadId) => `draft:${threadId ?? 'new'}`;

export const draft = (threadId) => kept(name(threadId)) ?? '';
export const keepDraft = (threadId, text) => keep(name(threadId), text === '' ? null : text);
