"use strict";
// The control of the class prior: a slider with marks on its track, and a field to type in.
const priorControl = (() => {
  const find = (id) => document.getElementById(id);
  const { short } = words;

  function unpack(packed) {
    if (!packed) return null;
    const bytes = Uint8Array.from(atob(packed.data), (character) => character.charCodeAt(0));
    return new { u4: Uint32Array, f4: Float32Array, f8: Float64Array }[packed.type](bytes.buffer);
  }

  // prior: what the page carries about it; world: {totals, scenario, labelNoise}; move(unlabelled prior) is called
  function mount(prior, world, move) {
    const populationOf = (share) => recovery.populationPrior(share, world.totals, world.scenario, world.labelNoise);
    const unlabelledOf = (share) => recovery.unlabelledPrior(share, world.totals, world.scenario, world.labelNoise);
    const most = (1 - world.labelNoise) * 0.9999; // where labels begin to say nothing
    const clamp = (share) => Math.min(Math.max(share, 0), most);
    const [low, high] = prior.track;
    const slider = find("prior");
    const field = find("prior-number");

    const place = (value) => Math.min(Math.max((value - low) / (high - low), 0), 1);
    function span(id, from, to) {
      const mark = find(id);
      mark.hidden = !(to > from);
      mark.style.left = `calc(9px + ${place(from)} * (100% - 18px))`;
      mark.style.width = `calc(${place(to) - place(from)} * (100% - 18px))`;
    }
    span("track-interval", prior.low ?? 0, prior.high ?? 0);
    span("track-impossible", prior.possible, high);
    find("track-home").style.left = `calc(9px + ${place(prior.value)} * (100% - 18px))`;
    slider.min = String(low);
    slider.max = String(high);
    slider.step = String(10 ** Math.floor(Math.log10((high - low) / 250)));
    let shown = prior.unlabelled;
    slider.addEventListener("input", () => move(clamp(unlabelledOf(Number(slider.value)))));
    field.addEventListener("change", () => {
      const typed = Number.parseFloat(field.value);
      field.blur(); // the field is only written to while nobody types in it
      if (Number.isFinite(typed)) move(clamp(unlabelledOf(typed)));
      else show(shown);
    });
    slider.disabled = field.disabled = prior.fixed;

    function show(share) {
      shown = share;
      const population = populationOf(share);
      if (population > Number(slider.max)) slider.max = String(population);
      slider.value = String(population);
      slider.setAttribute("aria-valuetext", `class prior ${short(population)}`);
      if (document.activeElement !== field) field.value = short(population);
      find("prior-note").textContent =
        world.scenario === "single-set" ? `${short(share)} among the unlabelled rows` : "";
    }

    return { show, populationOf, unlabelledOf, clamp };
  }

  return { mount, unpack };
})();
