// The tree of a conversation as rows: a conversation goes down in one column, answers beside each other branch off.
// Pure functions over the API's JSON; nothing is drawn here.

/**
 * Give the rows in the order in which they are drawn. `rails` says for each level left of a row what is drawn there:
 * 'line', 'gap', 'tee' or 'elbow'; `up` and `down`, whether a line leads to it and on from it.
 */
export function outline(turns) {
  const below = Map.groupBy(turns, (turn) => turn.parent_turn_id);
  const rows = [];
  const waiting = branches(below, null, [], 1).toReversed();
  while (waiting.length) {
    const { next, ...row } = waiting.pop();
    rows.push(row);
    waiting.push(...branches(below, row.turn.turn_id, next, row.level).toReversed());
  }
  return rows;
}

function branches(below, parent, rails, level) {
  const turns = below.get(parent) ?? [];
  const down = (turn) => below.has(turn.turn_id);
  if (turns.length === 1) {
    const [turn] = turns;
    return [{ turn, level, rails, next: rails, place: 1, of: 1, up: parent !== null, down: down(turn) }];
  }
  return turns.map((turn, number) => {
    const last = number === turns.length - 1;
    return {
      turn, level: level + 1, place: number + 1, of: turns.length, up: false, down: down(turn),
      rails: [...rails, last ? 'elbow' : 'tee'],
      next: [...rails, last ? 'gap' : 'line'],
    };
  });
}
