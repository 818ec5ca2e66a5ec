// People per seat against loss: a path for each strategy, a point for each committee size, a ring for the chosen size.
pictures.kinds.tradeoff = (data, box) => {
  const { choice, make, path, plot, status, thousands } = pictures;
  let chosen = 0;
  const points = ({ screened, loss }) => data.sizes.map((size, k) => [screened[k] / size, loss[k]]);
  const all = data.strategies.flatMap(points);

  const curve = plot(() => {
    const to = 1.3 * Math.max(...all.map(([people]) => people));
    const ticks = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].filter((value) => value <= to);
    const x = { from: 1, to, log: true, ticks, label: "people screened per seat" };
    const y = { from: 0, to: 1.12 * Math.max(...all.map(([, loss]) => loss)), label: "representation loss" };
    const marks = (across, up) =>
      data.strategies.flatMap((one) => {
        const places = points(one).map(([people, loss]) => [across(people), up(loss)]);
        const radius = (k) => 2.5 * (data.sizes[k] / data.sizes[0]) ** 0.35;
        const dots = places.map(([cx, cy], k) => make("circle", { class: "own", cx, cy, r: radius(k) }));
        const [cx, cy] = places[chosen];
        const ring = make("circle", { class: "ring", cx, cy, r: radius(chosen) + 4 });
        return [make("g", { style: `--own: ${one.colour}` }, path(places, { class: "curve own" }), ...dots, ring)];
      });
    return { x, y, marks };
  }, 360);

  const words = status();
  const list = make("ul", { class: "leads" });
  function show() {
    const size = data.sizes[chosen];
    words.textContent = `${thousands(size)} seats, marked by rings. The larger the committee, the larger its point.`;
    list.replaceChildren(
      ...data.strategies.map(({ name, colour, screened, loss }) => {
        const mark = make("span", { class: "swatch own", style: `--own: ${colour}` });
        const numbers = `${thousands(screened[chosen])} people, loss ${loss[chosen].toFixed(3)}`;
        return make("li", {}, make("span", {}, mark, name), make("b", {}, numbers));
      }),
    );
    curve.draw();
  }
  const options = data.sizes.map((size) => ({ words: thousands(size) }));
  const switches = choice("seats", options, chosen, (k) => {
    chosen = k;
    show();
  });
  box.append(make("div", { class: "controls" }, switches), words, curve.box, list);
  show();
};
