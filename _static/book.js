// Docutils gives the entries of the bibliography a role that a list may not hold.
document.addEventListener("DOMContentLoaded", () => {
  for (const entry of document.querySelectorAll('[role="doc-biblioentry"]'))
    entry.setAttribute("role", "listitem");
});

// What is wider than the screen scrolls; where it goes on to the right, its edge fades (`goes-on` in book.css).
const WIDE = ".bd-content :is(div.math, mjx-container, .cell_output, .output, .pst-scrollable-table-container, .highlight pre, .panels)";
function mark(box) {
  box.classList.toggle("goes-on", box.scrollWidth - box.clientWidth - Math.abs(box.scrollLeft) > 4);
}
window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  const boxes = [...document.querySelectorAll(WIDE)].filter((box) => ["auto", "scroll"].includes(getComputedStyle(box).overflowX));
  const watch = new ResizeObserver((changes) => changes.forEach(({ target }) => mark(target)));
  for (const box of boxes) {
    box.addEventListener("scroll", () => mark(box), { passive: true });
    watch.observe(box);
  }
});
