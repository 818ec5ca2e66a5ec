// Docutils gives the entries of the bibliography a role that a list may not hold.
document.addEventListener("DOMContentLoaded", () => {
  for (const entry of document.querySelectorAll('[role="doc-biblioentry"]'))
    entry.setAttribute("role", "listitem");
});

// What is wider than the screen scrolls; where it goes on to the right, its edge fades (`goes-on` in book.css).
const WIDE = ".bd-content :is(div.math, mjx-container, .cell_output, .output, .pst-scrollable-table-container, .panels)";
const mark = ({ target }) => target.classList.toggle("goes-on", target.scrollWidth - target.clientWidth - target.scrollLeft > 4);
const sizes = new ResizeObserver((changes) => changes.forEach(mark));
function watch(part) {
  for (const box of part.querySelectorAll(WIDE)) {
    if (box.closest("details:not([open])") || !["auto", "scroll"].includes(getComputedStyle(box).overflowX)) continue;
    box.addEventListener("scroll", mark, { passive: true });
    sizes.observe(box);
  }
}
window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  watch(document);
  document.addEventListener("toggle", ({ target }) => target.open && watch(target), { capture: true });
});
