// Docutils gives the entries of the bibliography a role that a list may not hold.
document.addEventListener("DOMContentLoaded", () => {
  for (const entry of document.querySelectorAll('[role="doc-biblioentry"]'))
    entry.setAttribute("role", "listitem");
});
