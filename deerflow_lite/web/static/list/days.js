// The groups of the list by the reader's own calendar day, and times in words.
// Pure: the time and its zone are the browser's.

import { isPinned } from './order.js';

const DAY = 86_400_000;
const RECENT = [[0, 'Today'], [1, 'Yesterday'], [7, 'Previous 7 days'], [30, 'Previous 30 days']];
const UNITS = [['year', 365], ['month', 30], ['week', 7], ['day', 1], ['hour', 1 / 24], ['minute', 1 / 1440]];

const month = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' });

/** Count calendar days between two moments; a day of 23 or 25 hours is one day. */
export function daysBetween(earlier, later) {
  const midnight = (moment) => Date.UTC(moment.getFullYear(), moment.getMonth(), moment.getDate());
  return Math.round((midnight(later) - midnight(earlier)) / DAY);
}

/** Name the group of a row. */
export function groupOf(row, now) {
  if (isPinned(row)) return 'Pinned';
  const moment = new Date(row.updated_at);
  const days = daysBetween(moment, now);
  return RECENT.find(([most]) => days <= most)?.[1] ?? month.format(moment);
}

/** Cut rows that are in order into `[{name, rows}]`. */
export function grouped(rows, now = new Date()) {
  const groups = [];
  for (const row of rows) {
    const name = groupOf(row, now);
    if (groups.at(-1)?.name !== name) groups.push({ name, rows: [] });
    groups.at(-1).rows.push(row);
  }
  return groups;
}

/** Say how long ago, in the largest unit that fits. */
export function timeAgo(text, now = new Date()) {
  const days = (now - new Date(text)) / DAY;
  const [unit, size] = UNITS.find(([, least]) => days >= least) ?? [null, 1];
  return unit === null ? 'now' : ago.format(-Math.floor(days / size), unit);
}

/** Say when, to the minute. */
export const exactly = (text) => exact.format(new Date(text));
