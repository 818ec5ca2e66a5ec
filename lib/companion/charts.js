// A chart takes the place of the still picture in the cell above it, which stays in the document
// for paper and for readers without scripts.
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

for (const source of document.querySelectorAll("script.vega-lite")) {
  const figure = source.closest(".cell").previousElementSibling.querySelector("figure");
  const box = document.createElement("div");
  box.className = "interactive";
  box.innerHTML = '<form class="controls"></form><div class="chart"></div>';
  const [bind, place] = box.children;
  figure.prepend(box);
  const chart = JSON.parse(source.textContent);
  chart.description = figure.querySelector("img").alt;
  if (chart.concat && innerWidth < 768) chart.columns = 1; // on a phone
  vegaEmbed(place, chart, { mode: "vega-lite", renderer: "svg", actions: false, config, bind }).then(
    () => figure.classList.add("responds"),
    () => box.remove(),
  );
  // A window that grows tells its charts while the theme still moves its columns: the place tells them again.
  new ResizeObserver(() => window.dispatchEvent(new Event("resize"))).observe(place);
}
