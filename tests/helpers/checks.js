// What can be wrong with a page. Each check returns its complaints, a sentence each.
// tests/helpers/browser.py says which check looks at which view of the page.
const all = (selector) => [...document.querySelectorAll(selector)];
const start = (element) => element.outerHTML.slice(0, 120);

window.checks = {
  // The theme puts on its colours, and lets the keyboard reach what scrolls, a moment after loading.
  settled() {
    document.getAnimations().forEach((animation) => animation.cancel());
    const theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const scrolls = (box) => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
    const boxes = all("pre, .cell_output > .output, .pst-scrollable-table-container");
    return (
      document.documentElement.dataset.theme === theme &&
      boxes.every((box) => (box.tabIndex === 0) === scrolls(box))
    );
  },

  icon: () => (document.querySelector('link[rel~="icon"]') ? [] : ["the page names no icon"]),

  mathematics() {
    const raw = all("article :not(pre, pre *, code, script, style)")
      .flatMap((element) => [...element.childNodes])
      .filter((node) => node.nodeType === Node.TEXT_NODE && /\\[([]|\$\$|\\begin\{/.test(node.data));
    const unknown = all("mjx-assistive-mml").filter((formula) => formula.textContent.includes("\\"));
    const failed = [...all("mjx-merror, [data-mjx-error]"), ...unknown];
    const missed = all("article .math").filter((element) => !element.querySelector("mjx-container"));
    return [
      ...raw.map((node) => `not typeset: ${node.data.trim()}`),
      ...missed.map((element) => `not typeset: ${start(element)}`),
      ...failed.map((element) => `wrong formula: ${element.textContent}`),
    ];
  },

  async figures() {
    const wrong = [];
    for (const image of all("article img")) {
      image.loading = "eager";
      await image.decode().catch(() => wrong.push(`does not load: ${image.src}`));
      if (!image.alt.trim()) wrong.push(`has no description: ${image.src}`);
      if (image.matches(".cell_output *") && !image.closest("figure"))
        wrong.push(`is not a figure: ${image.src}`);
    }
    for (const figure of all("article figure"))
      if (!/^Fig\. [\dA-Z]/.test(figure.querySelector("figcaption .caption-number")?.textContent))
        wrong.push(`has no number: ${start(figure)}`);
    return wrong;
  },

  async links() {
    const wrong = [];
    const pages = {};
    for (const link of all("a[href]")) {
      const url = new URL(link.href.baseVal ?? link.href, location); // in a drawing, or in the text
      if (url.origin !== location.origin) continue;
      pages[url.pathname] ??= fetch(url.pathname).then((answer) => (answer.ok ? answer.text() : null));
      const page = await pages[url.pathname];
      const place = decodeURIComponent(url.hash.slice(1));
      const there =
        url.pathname === location.pathname
          ? document.getElementById(place)
          : page?.includes(`id="${place}"`);
      if (page === null || (place && !there)) wrong.push(`leads nowhere: ${start(link)}`);
    }
    const vague = /^(here|click here|this|this page|link|more|read more|)$/i;
    for (const link of all("article a[href]")) {
      const text = link.getAttribute("aria-label") || link.textContent || link.title;
      if (vague.test(text.trim()) && !link.querySelector("img[alt]"))
        wrong.push(`does not say where it leads: ${start(link)}`);
    }
    return wrong;
  },

  headings() {
    const levels = all("article :is(h1, h2, h3, h4, h5, h6)").map((heading) => +heading.tagName[1]);
    const wrong = [];
    if (levels.filter((level) => level === 1).length !== 1) wrong.push("there must be one h1");
    if (levels.some((level, i) => level > (levels[i - 1] ?? 0) + 1))
      wrong.push(`a level is skipped: ${levels}`);
    return wrong;
  },

  tables: () =>
    all("article table")
      .filter((table) => ![...table.querySelectorAll("th")].some((cell) => cell.textContent.trim()))
      .map((table) => `has no header: ${start(table)}`),

  // In the dark: black ink needs a light ground, the picture's own or one given by the style sheet.
  pictures() {
    const wrong = all("article img").filter((image) => {
      if (!image.naturalWidth) return false;
      const corner = new OffscreenCanvas(1, 1).getContext("2d");
      corner.drawImage(image, 0, 0);
      const clear = corner.getImageData(0, 0, 1, 1).data[3] < 255;
      return clear && getComputedStyle(image).backgroundColor === "rgba(0, 0, 0, 0)";
    });
    return wrong.map((image) => `lets the dark page shine through: ${image.src}`);
  },

  // On a phone: words in pictures are at least 11 pixels high. Letters are drawn in hundredths of points.
  async labels() {
    const wrong = [];
    for (const image of all("article img[src*='.svg'], article img[src^='data:image/svg']")) {
      if (!image.clientWidth) continue; // another picture takes its place
      const text = await fetch(image.src).then((answer) => answer.text());
      const sizes = [...text.matchAll(/scale\(([\d.]+) -/g)].map((match) => 100 * match[1]);
      const width = +text.match(/viewBox="0 0 ([\d.]+)/)?.[1];
      const least = (Math.min(...sizes) * image.clientWidth) / width;
      if (least < 11) wrong.push(`words of ${least.toFixed(1)} pixels: ${image.src.slice(0, 120)}`);
    }
    for (const text of all("article svg text"))
      if (text.getClientRects().length && text.textContent.trim()) {
        const box = text.getScreenCTM();
        const size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(box.a, box.b);
        if (size < 11) wrong.push(`words of ${size.toFixed(1)} pixels: ${text.textContent}`);
      }
    return wrong;
  },

  // On a phone: the page does not scroll sideways, and what is wider than the screen scrolls in a box.
  width() {
    const width = document.scrollingElement.clientWidth;
    const wrong = [];
    if (document.scrollingElement.scrollWidth > width) wrong.push("the page scrolls sideways");
    const hidden = "mjx-assistive-mml, mjx-assistive-mml *";
    for (const element of all(`article *:not(${hidden})`)) {
      if (element.getBoundingClientRect().right <= width + 1) continue;
      let box = element.parentElement;
      while (box !== document.body && getComputedStyle(box).overflowX === "visible")
        box = box.parentElement;
      if (!["auto", "scroll"].includes(getComputedStyle(box).overflowX))
        wrong.push(`sticks out: ${start(element)}`);
    }
    return wrong;
  },

  // Where the keyboard is: the name of the place, and whether it looks different for it.
  focus() {
    const element = document.activeElement;
    if (element === document.body) return null;
    const look = () => {
      const style = getComputedStyle(element);
      const outline = style.outlineStyle === "none" ? "" : style.outline;
      return [outline, style.boxShadow, style.backgroundColor, style.borderColor].join();
    };
    const focused = look();
    element.blur();
    return [element.ariaLabel || element.textContent.trim(), focused !== look()];
  },
};
