"use strict";
// Rows by the value of a column, counted in the pass that counts all of them. Texts are told apart as they are written,
// and an empty cell is a group of its own.
const segmentRows = (() => {
  const MOST_GROUPS = 500;

  // by the places of their letters, not by those of halves of letters; rows without a value come last
  function inOrder(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    const [left, right] = [[...a], [...b]];
    for (let k = 0; k < Math.min(left.length, right.length); k++)
      if (left[k] !== right[k]) return left[k].codePointAt(0) - right[k].codePointAt(0);
    return left.length - right.length;
  }

  // `add` is told every row: its record, its kind and its score
  function collector(place, column) {
    const groups = new Map();
    const fresh = (text) => {
      if (groups.size >= MOST_GROUPS) throw new evidence.Refusal(texts.manyGroups(columns.shown(column), MOST_GROUPS));
      const made = tallies.KINDS.map(() => new columns.Growing());
      groups.set(text, made);
      return made;
    };
    return {
      add(record, kind, score) {
        const text = record.text(place);
        (groups.get(text) ?? fresh(text))[kind].add(score);
      },
      all: () =>
        [...groups]
          .map(([text, kinds]) => ({ name: text === "" ? null : text, scores: kinds.map((kind) => kind.all) }))
          .sort((a, b) => inOrder(a.name, b.name))
          .map((group) => ({ ...group, tally: tallies.fromScores(group.scores) })),
    };
  }

  // the rows of some groups as one
  function together(groups) {
    const joined = tallies.KINDS.map((_, kind) => {
      const whole = new Float64Array(groups.reduce((sum, { scores }) => sum + scores[kind].length, 0));
      let at = 0;
      for (const { scores } of groups) {
        whole.set(scores[kind], at);
        at += scores[kind].length;
      }
      return whole;
    });
    return tallies.fromScores(joined);
  }

  return { collector, together, inOrder };
})();
if (typeof module !== "undefined") module.exports = segmentRows;
