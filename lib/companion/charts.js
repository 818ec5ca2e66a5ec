// A chart takes the place of the still picture in the cell above it. That stays in the document:
// for paper, and for whoever reads without scripts.
const ink = "currentColor"; // follows the theme, light or dark
const config = {
  background: "transparent",
  font: getComputedStyle(document.body).fontFamily,
  view: { stroke: "transparent" },
  axis: { labelColor: ink, titleColor: ink, domainColor: ink, tickColor: ink, gridColor: ink, gridOpacity: 0.15 },
  legend: { labelColor: ink, titleColor: ink },
  text: { color: ink },
  tick: { color: ink },
  point: { color: ink },
};
const phone = matchMedia("(max-width: 767px)");

for (const source of document.querySelectorAll("script.vega-lite")) {
  const figure = source.closest(".cell").previousElementSibling.querySelector("figure");
  const box = document.createElement("div");
  box.className = "interactive";
  box.innerHTML = '<form class="controls"></form><div class="chart"></div>';
  const [bind, place] = box.children;
  const draw = () => {
    const chart = JSON.parse(source.textContent);
    chart.description = figure.querySelector("img").alt;
    if (chart.concat) chart.columns = phone.matches ? 1 : 2;
    bind.replaceChildren();
    return vegaEmbed(place, chart, { mode: "vega-lite", renderer: "svg", actions: false, config, bind });
  };
  figure.prepend(box);
  // A window that grows tells its charts while the theme still moves its columns: the place tells them again.
  new ResizeObserver(() => window.dispatchEvent(new Event("resize"))).observe(place);
  draw().then(
    () => figure.classList.add("responds"),
    () => box.remove(),
  );
  phone.addEventListener("change", draw);
}
