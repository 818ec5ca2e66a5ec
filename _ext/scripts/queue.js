// A queue of people, and strategies that fill a committee from it: choose one, and move along.
pictures.kinds.queue = (data, box) => {
  const { bars, choice, groups, make, range, slider, status, thousands, types } = pictures;
  const [names, valuesOf] = [groups(data), types(data)];
  const everybody = data.people.length;
  let chosen = data.strategies.findIndex(({ name }) => name === data.first);
  const people = ({ seated }) => (seated.length < data.size ? everybody : seated.at(-1));
  let seen = people(data.strategies[chosen]);

  const place = make("div", { class: "plot" });
  const words = status();
  const along = slider("people seen", (value) => {
    seen = value;
    show();
  });
  const options = data.strategies.map((one) => ({
    words: `${one.name}: ${one.seated.length < data.size ? "more than " : ""}${thousands(people(one))} people`,
    colour: one.colour,
  }));
  const switches = choice("strategy", options, chosen, (k) => {
    [chosen, seen] = [k, people(data.strategies[k])];
    show();
  });
  const lines = bars(names);
  const most = 1.6 * data.size * Math.max(...data.targets);

  // Squares in rows, of a size at which all of them have room.
  function draw() {
    const width = place.clientWidth;
    if (!width) return;
    const side = Math.max(6, Math.min(26, Math.floor(Math.sqrt((300 * width) / everybody))));
    const columns = Math.floor(width / side);
    const corner = (k) => [(k % columns) * side + 1, Math.floor(k / columns) * side + 1];
    const square = (k) => `M${corner(k).join(" ")}h${side - 2}v${side - 2}h${2 - side}z`;
    const seated = new Set(data.strategies[chosen].seated);
    const squares = { "own accepted": [], rejected: [], unseen: [] };
    for (const k of range(everybody))
      squares[k >= seen ? "unseen" : seated.has(k + 1) ? "own accepted" : "rejected"].push(square(k));
    const height = Math.ceil(everybody / columns) * side + 2;
    const [x, y] = corner(seen - 1);
    const svg = make(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      ...Object.entries(squares).map(([look, parts]) => make("path", { class: look, d: parts.join("") })),
      make("rect", { class: "ring", x: x - 1, y: y - 1, width: side, height: side }),
    );
    svg.addEventListener("click", ({ offsetX, offsetY }) => {
      const person = Math.floor(offsetY / side) * columns + Math.floor(offsetX / side) + 1;
      seen = Math.min(person, people(data.strategies[chosen]));
      show();
    });
    place.replaceChildren(svg);
  }

  function show() {
    const { name, colour, seated } = data.strategies[chosen];
    const taken = seated.filter((person) => person <= seen);
    const counts = names.map(() => 0);
    for (const person of taken) for (const value of valuesOf[data.people[person - 1]]) counts[value] += 1;
    box.style.setProperty("--own", colour);
    along.set(seen, people(data.strategies[chosen]), thousands(seen));
    const last = valuesOf[data.people[seen - 1]];
    words.textContent =
      `${name} has seen ${thousands(seen)} people and filled ${taken.length} of ${data.size} seats. ` +
      `Person ${thousands(seen)} (${last.map((value) => names[value].value).join(", ")}) is ` +
      `${taken.at(-1) === seen ? "accepted" : "rejected"}.`;
    counts.forEach((count, k) =>
      lines.set(k, {
        length: count / most,
        at: (data.size * data.targets[k]) / most,
        words: `${count}`,
        lit: last.includes(k),
      }),
    );
    draw();
  }
  along.box.querySelector("input").min = 1;
  const swatch = (look, text) => make("span", {}, make("span", { class: `swatch ${look}` }), text);
  const legend = make("p", { class: "title" }, swatch("own", "accepted"), swatch("rejected", "rejected"));
  legend.append(swatch("unseen", "not seen"));
  const title = make("p", { class: "title" }, "People accepted of each group, and targets");
  box.append(
    make("div", { class: "controls" }, switches, along.box),
    words,
    make("div", { class: "sides" }, make("div", {}, legend, place), make("div", {}, title, lines.box)),
  );
  new ResizeObserver(draw).observe(place);
  show();
};
