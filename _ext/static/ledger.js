// The ledger, to search in: a button for each verdict, and a field for words. Without this script
// the table is complete. The claim that the address names is shown, whatever the rest.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.ledger")) {
    const rows = [...table.tBodies[0].rows];
    const make = (tag, properties, ...children) => {
      const element = Object.assign(document.createElement(tag), properties);
      element.append(...children);
      return element;
    };

    const counts = new Map([["all", rows.length]]);
    for (const { dataset } of rows) counts.set(dataset.verdict, (counts.get(dataset.verdict) ?? 0) + 1);
    const buttons = [...counts].map(([verdict, count]) => {
      const words = `${verdict.replaceAll("-", " ")} (${count})`;
      return make("button", { type: "button", value: verdict, className: `verdict verdict-${verdict}` }, words);
    });
    const group = make("div", { role: "group", ariaLabel: "Claims by verdict", className: "verdicts" }, ...buttons);
    const field = make("input", { type: "search", placeholder: "people, Theorem 1, a2-margin", autocomplete: "off" });
    const label = make("label", {}, "Claims with the words ", field);
    const status = make("p", { role: "status" });
    table.before(make("div", { className: "ledger-controls" }, group, label, status));

    let chosen = "all";
    const named = () => rows.find((row) => row.id === decodeURIComponent(location.hash.slice(1)));
    const update = () => {
      const words = field.value.toLowerCase().split(/\s+/);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        const fits = (chosen === "all" || row.dataset.verdict === chosen) && words.every((word) => text.includes(word));
        row.hidden = !fits && row !== named();
      }
      for (const button of buttons) button.ariaPressed = String(button.value === chosen);
      const shown = rows.filter((row) => !row.hidden).length;
      status.textContent = `${shown} of ${rows.length} claims shown.`;
    };

    for (const button of buttons)
      button.addEventListener("click", () => {
        chosen = button.value;
        update();
      });
    field.addEventListener("input", update);
    addEventListener("hashchange", () => {
      update();
      named()?.scrollIntoView();
    });
    update();
    named()?.scrollIntoView(); // the controls have moved it
  }
});
