"use strict";
// What the worker is asked for, one request at a time; the file stays here, and only answers leave.
(() => {
  let opened = null;
  let last = 0;
  let id = 0;
  const progress = (share) => {
    const now = Date.now();
    if (now - last < 60) return;
    last = now;
    postMessage({ id, progress: share });
  };

  const requests = {
    async open({ file, name }) {
      if (tallyFile.isTally(name)) {
        opened = { file, name, tally: await tallyFile.read(file, name) };
        return { totals: opened.tally.totals };
      }
      const table = await reading.preview(file, name);
      opened = { file, name, table };
      return { ...table, rows: table.rows.slice(0, 10), guess: columns.guess(table), unique: columns.unique(table) };
    },
    async values({ label }) {
      return columns.values(opened.file, opened.name, opened.table, label, progress);
    },
    async evaluate({ asked, title, typed }) {
      const tally = opened.tally ?? (await columns.count(opened.file, opened.name, opened.table, asked, progress));
      opened.counted = { tally, asked };
      postMessage({ id, progress: null });
      // values need no redraws: a reader has them while intervals are found
      const quick = evaluating.evaluate(tally, { ...asked, confidence: null });
      postMessage({ id, first: sentences.summarise(quick).verdict });
      const evaluation = evaluating.evaluate(tally, asked);
      return evaluating.context(evaluation, title, typed);
    },
  };

  requests.counts = async ({ version }) => {
    const { tally, asked } = opened.counted;
    const { names } = opened.table ?? {};
    const told = names ? { score: names[asked.score], label: names[asked.label] } : {};
    return tallyFile.write(tally, { source: opened.name, ...told }, version);
  };

  requests.queue = async ({ asked, wanted }) => {
    const tally = opened.counted?.tally ?? (await columns.count(opened.file, opened.name, opened.table, asked, progress));
    return auditQueue.make(opened, asked, tally, wanted, progress);
  };

  requests.plan = ({ plan, planName }) => auditAnswers.readPlan(plan, planName).goal;
  requests.answers = ({ file, name, plan, planName }) => auditShown.read(file, name, plan, planName);

  onmessage = ({ data }) => (queue = queue.then(() => answerTo(data)));
  let queue = Promise.resolve(); // one after the other: what is opened first is there for what is asked next

  async function answerTo(data) {
    id = data.id;
    try {
      postMessage({ id, answer: await requests[data.request](data) });
    } catch (error) {
      // an error that is no refusal is a fault of ours, and is shown as such
      postMessage({ id, refusal: error instanceof evidence.Refusal ? error.message : texts.fault(error.message) });
    }
  }
})();
