// Move the target of one group: people per seat, what holds it up, and how often each group is accepted. The best rates
// were computed by the library, for all targets that the slider can reach.
pictures.kinds.targets = (data, box) => {
  const { bars, groups, make, path, plot, slider, status, thousands } = pictures;
  const names = groups(data);
  const start = (k) => data.moves[k].targets.indexOf(data.targets[k]);
  // The group that is scarcest compared with its target comes first.
  const scarcity = data.shares.map((share, k) => share / data.targets[k]);
  let chosen = scarcity.indexOf(Math.min(...scarcity));
  let at = start(chosen);

  // All targets: the others of the same feature share what the chosen one leaves, as before.
  function moved() {
    const target = data.moves[chosen].targets[at];
    const rest = (1 - target) / (1 - data.targets[chosen]);
    const same = (k) => names[k].feature === names[chosen].feature;
    return data.targets.map((given, k) => (k === chosen ? target : same(k) ? given * rest : given));
  }
  const chances = (targets, rate) => targets.map((target, k) => (target * rate) / data.shares[k]);
  const holdsUp = (chance) => chance > 0.9999;

  function choose(k) {
    [chosen, at] = [k, start(k)];
    select.value = k;
    show();
  }
  const options = names.map(({ words }, k) => make("option", { value: k }, words));
  const select = make("select", { "aria-label": "group", onchange: () => choose(+select.value) }, ...options);
  const target = slider("target", (value) => {
    at = value;
    show();
  });
  const reset = make("button", { type: "button", onclick: () => choose(chosen) });
  const words = status();
  const lines = bars(names, choose);
  const curve = plot(() => {
    const { targets, rates } = data.moves[chosen];
    const people = rates.map((rate) => 1 / rate);
    const own = targets.map((value, i) => holdsUp((value * rates[i]) / data.shares[chosen]));
    const x = { from: targets[0], to: targets.at(-1), label: `target of ${names[chosen].words}` };
    const y = { from: 1, to: Math.max(2, 1.05 * Math.max(...people)), label: "people per seat" };
    const marks = (across, up) => {
      const points = targets.map((value, i) => [across(value), up(people[i])]);
      const [given, here] = [across(data.targets[chosen]), points[at]];
      const shown = [
        make("line", { class: "given", x1: given, x2: given, y1: up(y.from), y2: up(y.to) }),
        path(points, { class: "curve" }),
      ];
      const thick = points.filter((_, i) => own[i]);
      if (thick.length > 1) shown.push(path(thick, { class: "curve own thick" }));
      return [...shown, make("circle", { class: "own here", cx: here[0], cy: here[1], r: 8 })];
    };
    return { x, y, marks };
  });

  function show() {
    const { targets, rates } = data.moves[chosen];
    const rate = rates[at];
    const found = chances(moved(), rate);
    const lit = names.filter((_, k) => holdsUp(found[k])).map(({ words }) => words);
    target.set(at, targets.length - 1, targets[at].toFixed(3));
    reset.disabled = at === start(chosen);
    reset.textContent = `back to ${data.targets[chosen].toFixed(3)}`;
    words.textContent =
      `${names[chosen].words}, target ${targets[at].toFixed(3)}: ${(1 / rate).toFixed(2)} people per seat, ` +
      `${thousands(data.size / rate)} for ${thousands(data.size)} seats. ` +
      (lit.length
        ? `What holds it up: ${lit.join(" and ")}, of whom everybody is accepted.`
        : "No single group holds it up, but people who are in several wanted groups at once: too few of them come.");
    found.forEach((chance, k) =>
      lines.set(k, { length: chance, words: chance.toFixed(2), lit: holdsUp(chance), chosen: k === chosen }),
    );
    curve.draw();
  }
  box.style.setProperty("--own", data.colour);
  const title = (text) => make("p", { class: "title" }, text);
  box.append(
    make("div", { class: "controls" }, make("label", {}, make("span", {}, "group"), select), target.box, reset),
    words,
    make(
      "div",
      { class: "sides" },
      make("div", {}, title("People per seat (thick: this group holds it up)"), curve.box),
      make("div", {}, title("Share of each group that is accepted"), lines.box),
    ),
  );
  choose(chosen);
};
