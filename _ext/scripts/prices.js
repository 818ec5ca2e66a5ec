// A committee filled by Prices, caller by caller. The first callers are the library's; whoever starts again meets others.
pictures.kinds.prices = (data, box) => {
  const { bars, groups, make, plot, range, signed, status, sum, thousands, types } = pictures;
  const [names, valuesOf] = [groups(data), types(data)];
  let [callers, counts, seated, sums, shown] = [[], [], 0, [], null];
  let clock = null;

  // The rule: for each feature, the seats that the caller's group is ahead of its target, less the average of that over
  // the targets; and the sum of these. (Sums that should be equal differ by less than a billionth.)
  function decide(values) {
    const ahead = counts.map((count, k) => count - data.targets[k] * seated);
    const leads = values.map((value) => {
      const same = range(names.length).filter((k) => names[k].feature === names[value].feature);
      return ahead[value] - sum(same.map((k) => data.targets[k] * ahead[k]));
    });
    const total = sum(leads) + 1e-9;
    return { values, leads, total, accepted: total < data.lead };
  }

  function somebody() {
    let left = Math.random() * sum(data.p);
    return Math.max(0, data.p.findIndex((share) => (left -= share) < 0));
  }

  function next() {
    if (seated === data.size) return;
    shown = decide(valuesOf[sums.length < callers.length ? callers[sums.length] : somebody()]);
    sums.push(shown);
    if (shown.accepted) {
      seated += 1;
      for (const value of shown.values) counts[value] += 1;
    }
  }

  function begin(people, some) {
    [callers, counts, seated, sums] = [people, names.map(() => 0), 0, []];
    for (let k = 0; k < some; k += 1) next();
    show();
  }

  function pause() {
    clearInterval(clock);
    clock = null;
  }

  const button = (words, onclick) => make("button", { type: "button", onclick }, words);
  const forward = button("next caller", () => {
    pause();
    next();
    show();
  });
  const play = button("play", () => {
    if (clock) pause();
    else if (matchMedia("(prefers-reduced-motion: reduce)").matches) while (seated < data.size) next();
    else
      clock = setInterval(() => {
        next();
        if (seated === data.size) pause();
        show();
      }, 300);
    show();
  });
  const again = button("new callers", () => {
    pause();
    begin([], 1);
  });

  const words = status();
  const lines = bars(names);
  const own = make("ul", { class: "leads" });
  const curve = plot(() => {
    const low = Math.min(-2, ...sums.map(({ total }) => total));
    const high = Math.max(2 * data.lead, ...sums.map(({ total }) => total));
    const x = { from: 0, to: Math.max(1.5 * data.size, sums.length + 1), label: "caller" };
    const y = { from: Math.floor(low - 1), to: Math.ceil(high + 1), label: "sum" };
    const marks = (across, up) => [
      make("line", { class: "limit", x1: across(x.from), x2: across(x.to), y1: up(data.lead), y2: up(data.lead) }),
      make("text", { x: across(x.to) - 4, y: up(data.lead) + 14, "text-anchor": "end" }, `lead ${data.lead}`),
      ...sums.map(({ total, accepted }, k) => {
        const look = { cx: across(k + 1), cy: up(total), r: k === sums.length - 1 ? 8 : 5 };
        return make("circle", { ...look, class: accepted ? "own accepted" : "turned-away" });
      }),
    ];
    return { x, y, marks };
  }, 260);

  function show() {
    const { values, leads, total, accepted } = shown;
    const full = seated === data.size;
    const loss = Math.max(...counts.map((count, k) => Math.abs(count / data.size - data.targets[k])));
    words.setAttribute("aria-live", clock ? "off" : "polite");
    words.textContent =
      `Caller ${thousands(sums.length)}: ${values.map((value) => names[value].value).join(", ")}. ` +
      `The sum is ${signed(total)}, ${accepted ? `less than ${data.lead}: accepted` : `not less than ${data.lead}: rejected`}. ` +
      `${seated} of ${data.size} seats are filled.` +
      (full ? ` The committee is full, with a loss of ${loss.toFixed(3)}.` : "");
    play.textContent = clock ? "pause" : "play";
    forward.disabled = play.disabled = full;
    own.replaceChildren(
      ...values.map((value, k) =>
        make("li", {}, make("span", {}, names[value].words), make("b", {}, signed(leads[k]))),
      ),
      make("li", {}, make("span", {}, "sum"), make("b", {}, signed(total))),
    );
    const most = 1.6 * data.size * Math.max(...data.targets);
    counts.forEach((count, k) =>
      lines.set(k, {
        length: count / most,
        at: (data.targets[k] * seated) / most,
        words: `${count}`,
        lit: values.includes(k),
      }),
    );
    curve.draw();
  }
  box.style.setProperty("--own", data.colour);
  const title = (text) => make("p", { class: "title" }, text);
  box.append(
    make("div", { class: "controls" }, forward, play, again),
    words,
    make(
      "div",
      { class: "sides" },
      make("div", {}, title("Seats the caller's groups are ahead, less the average"), own, curve.box),
      make("div", {}, title("Seats of each group, and targets so far"), lines.box),
    ),
  );
  begin(data.people, 20);
};
