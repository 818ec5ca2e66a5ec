// Pictures that respond. Each takes the place of the still picture in the cell above its data, which stays in the
// document for paper and for readers without scripts. The script of each kind adds a function to `pictures.kinds`.
window.pictures = (() => {
  const DRAWN = new Set(["svg", "g", "path", "line", "circle", "rect", "text"]);

  // An element with attributes, listeners (on...) and children.
  function make(name, attributes = {}, ...children) {
    const element = DRAWN.has(name)
      ? document.createElementNS("http://www.w3.org/2000/svg", name)
      : document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  const thousands = (number) => Math.round(number).toLocaleString("en-GB");
  const signed = (number) => `${number < -0.05 ? "−" : number < 0.05 ? "" : "+"}${Math.abs(number).toFixed(1)}`;
  const minus = (number) => `${number}`.replace("-", "−");
  const dash = (words) => words.replace(/(\d)-(\d)/g, "$1–$2");
  const range = (length) => Array.from({ length }, (_, k) => k);
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

  // All groups in the order of the targets: feature, value, and both in words.
  const groups = ({ features }) =>
    features.flatMap(([feature, values]) =>
      values.map((value) => ({ feature, value: dash(value), words: `${feature}: ${dash(value)}` })),
    );

  // For each type, the positions of its values among all groups; the last feature varies fastest.
  function types({ features }) {
    let [first, found] = [0, [[]]];
    for (const [, values] of features) {
      found = found.flatMap((type) => values.map((_, k) => [...type, first + k]));
      first += values.length;
    }
    return found;
  }

  // A slider with its name before it and its value, in words, behind it.
  function slider(name, oninput) {
    const shown = make("span", { class: "value", "aria-hidden": "true" });
    const input = make("input", { type: "range", min: 0, "aria-label": name, oninput: () => oninput(+input.value) });
    const set = (value, most, words) => {
      input.max = most;
      input.value = value;
      input.setAttribute("aria-valuetext", words);
      shown.textContent = words;
    };
    return { box: make("label", { class: "slider" }, make("span", {}, name), input, shown), set };
  }

  // Buttons of which one is down. Each option has words, and maybe a colour.
  function choice(name, options, first, onchange) {
    const buttons = options.map(({ words, colour }, k) => {
      const input = make("input", { type: "radio", name, value: k, onchange: () => onchange(k) });
      input.checked = k === first;
      const mark = colour ? [make("span", { class: "swatch own", style: `--own: ${colour}` })] : [];
      return make("label", {}, input, ...mark, words);
    });
    return make("fieldset", {}, make("legend", {}, name), ...buttons);
  }

  // A line for each group: its name, a bar with a mark, and a number. Lengths are shares of the whole width.
  function bars(names, onclick = () => {}) {
    const lines = names.map(({ words }, k) => {
      const [bar, mark, number] = [make("i", { class: "bar own" }), make("i", { class: "goal" }), make("span")];
      const track = make("span", { class: "track", "aria-hidden": "true" }, bar, mark);
      const line = make("li", { onclick: () => onclick(k) }, make("span", {}, words), track, number);
      return { line, bar, mark, number };
    });
    const box = make("ul", { class: "bars" }, ...lines.map(({ line }) => line));
    const set = (k, { length, at, words, lit = false, chosen = false }) => {
      const { line, bar, mark, number } = lines[k];
      bar.style.width = `${100 * Math.min(1, length)}%`;
      mark.style.left = `${100 * Math.min(1, at)}%`;
      mark.hidden = at === undefined;
      number.textContent = words;
      line.classList.toggle("lit", lit);
      line.classList.toggle("chosen", chosen);
    };
    return { box, set };
  }

  // A few round numbers between two.
  function ticks(from, to) {
    const rough = (to - from) / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough);
    return range(Math.floor(to / step + 1e-9) - Math.ceil(from / step - 1e-9) + 1).map(
      (k) => +((Math.ceil(from / step - 1e-9) + k) * step).toFixed(6),
    );
  }

  // A picture with two axes, drawn as wide as its place and drawn again when that changes, so that words keep their
  // size. `describe` returns the axes, each {from, to, label} and maybe {log, ticks, words}, and `marks(x, y)`.
  function plot(describe, height = 300) {
    const place = make("div", { class: "plot" });
    function draw() {
      const width = place.clientWidth;
      if (!width) return;
      const { x, y, marks } = describe();
      const [left, right, top, bottom] = [56, 8, 12, 46];
      const along = (axis, start, end) => (value) => {
        const part = axis.log
          ? Math.log(value / axis.from) / Math.log(axis.to / axis.from)
          : (value - axis.from) / (axis.to - axis.from);
        return start + part * (end - start);
      };
      const [across, up] = [along(x, left, width - right), along(y, height - bottom, top)];
      const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
      for (const value of x.ticks ?? ticks(x.from, x.to))
        svg.append(
          make("line", { class: "grid", x1: across(value), x2: across(value), y1: top, y2: height - bottom }),
          make("text", { x: across(value), y: height - bottom + 17, "text-anchor": "middle" }, minus(value)),
        );
      for (const value of y.ticks ?? ticks(y.from, y.to))
        svg.append(
          make("line", { class: "grid", x1: left, x2: width - right, y1: up(value), y2: up(value) }),
          make("text", { x: left - 6, y: up(value) + 4, "text-anchor": "end" }, minus(value)),
        );
      const middle = (height - bottom + top) / 2;
      svg.append(
        make("text", { x: (left + width) / 2, y: height - 8, "text-anchor": "middle" }, x.label),
        make("text", { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` }, y.label),
        ...marks(across, up),
      );
      place.replaceChildren(svg);
    }
    new ResizeObserver(draw).observe(place);
    return { box: place, draw };
  }

  const path = (points, look) => make("path", { d: `M${points.map((at) => at.join(" ")).join("L")}`, ...look });

  // What has changed, for the eye and for the ear.
  const status = () => make("p", { role: "status" });

  document.addEventListener("DOMContentLoaded", () => {
    for (const source of document.querySelectorAll("script.picture")) {
      const data = JSON.parse(source.textContent);
      const figure = source.closest(".cell").previousElementSibling.querySelector("figure");
      const box = make("div", { class: "interactive", role: "group", "aria-label": data.words });
      window.pictures.kinds[data.kind](data, box);
      figure.prepend(box);
      figure.classList.add("responds");
    }
  });

  const kinds = {};
  return { bars, choice, groups, kinds, make, path, plot, range, signed, slider, status, sum, thousands, types };
})();
