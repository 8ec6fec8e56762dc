// The order of the list, as the service sorts it: pinned first, then the newest, then by id; all descending.
// Pure: it knows no store and no page.

/** True only for JSON true, as the service reads the flag. */
export const isArchived = (row) => row.metadata?.deerflow_archived === true;
export const isPinned = (row) => row.metadata?.deerflow_pinned === true;

/** The name that a row is called by. */
export const titleOf = (row) => row.title ?? 'New chat';

/** Say whether `a` stands before `b` (negative), after it (positive) or is the same row (0). */
export function compare(a, b) {
  if (isPinned(a) !== isPinned(b)) return isPinned(a) ? -1 : 1;
  if (a.updated_at !== b.updated_at) return a.updated_at > b.updated_at ? -1 : 1;
  if (a.thread_id === b.thread_id) return 0;
  return a.thread_id > b.thread_id ? -1 : 1;
}

/** Give the rows without the one of this id. */
export const without = (rows, id) => rows.filter((row) => row.thread_id !== id);

/** Give the rows with this one in its place; beyond the last row of an incomplete list it is left to a later page. */
export function placed(rows, row, complete) {
  const others = without(rows, row.thread_id);
  const at = others.findIndex((other) => compare(row, other) < 0);
  if (at >= 0) return others.toSpliced(at, 0, row);
  return complete ? [...others, row] : others;
}

/**
 * Give `{rows, cursor, complete}` of a list after its first page was asked for again. What the page reaches over is as
 * the page has it; what lies behind it stays, unless there is a gap between the two: then the list begins anew.
 */
export function refreshed(list, page, cursor) {
  const last = page.at(-1);
  const anew = { rows: page, cursor, complete: cursor === null };
  if (cursor === null || !last || !list.rows.some((row) => compare(row, last) <= 0)) return anew;
  const behind = list.rows.filter((row) => compare(row, last) > 0);
  return behind.length ? { rows: [...page, ...behind], cursor: list.cursor, complete: list.complete } : anew;
}
