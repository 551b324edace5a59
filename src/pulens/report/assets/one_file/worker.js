"use strict";
// What the worker is asked for, one request at a time; the file stays here, and only answers leave.
(() => {
  let opened = null;
  let last = 0;
  const progress = (share) => {
    const now = Date.now();
    if (now - last < 60) return;
    last = now;
    postMessage({ progress: share });
  };

  const requests = {
    async open({ file, name }) {
      const table = await reading.preview(file, name);
      opened = { file, name, table };
      return { ...table, rows: table.rows.slice(0, 10), guess: columns.guess(table) };
    },
    async values({ label }) {
      return columns.values(opened.file, opened.name, opened.table, label, progress);
    },
    async evaluate({ asked, title, typed }) {
      const tally = await columns.count(opened.file, opened.name, opened.table, asked, progress);
      postMessage({ progress: null });
      const evaluation = evaluating.evaluate(tally, asked);
      return evaluating.context(evaluation, title, typed);
    },
  };

  onmessage = async ({ data }) => {
    try {
      postMessage({ answer: await requests[data.request](data) });
    } catch (error) {
      // an error that is no refusal is a fault of ours, and is shown as such
      postMessage({ refusal: error instanceof evidence.Refusal ? error.message : texts.fault(error.message) });
    }
  };
})();
