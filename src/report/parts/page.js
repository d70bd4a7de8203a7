// Opens what a link leads into, searches all values, and opens the sections for printing. Without this script the page
// is whole: sections open by a click.
(() => {
  const reveal = (id) => {
    const target = id && document.getElementById(id);
    if (!target) return;
    for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    target.scrollIntoView();
  };
  const here = () => reveal(decodeURIComponent(location.hash.slice(1)));
  addEventListener("hashchange", here);
  // A second click on a link leaves the address as it is.
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) here();
  });
  here();

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.part:not([open])")];
    opened.forEach((d) => (d.open = true));
  });
  addEventListener("afterprint", () => opened.forEach((d) => (d.open = false)));

  const box = document.getElementById("search"),
    found = document.getElementById("found");
  if (!box) return;
  const most = 60,
    rows = [...document.querySelectorAll("tr[data-path]")].map((row) => ({
      id: row.id,
      path: row.dataset.path,
      value: row.querySelector("td.v").textContent,
      doc: row.querySelector("th").title,
    }));
  rows.forEach((r) => (r.text = `${r.path} ${r.path.replace(/[._\[\]]/g, " ")} ${r.value} ${r.doc}`.toLowerCase()));
  box.hidden = false;
  box.placeholder = `Search ${rows.length} values`;
  const search = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.textContent = "";
    found.hidden = words.length === 0;
    if (found.hidden) return;
    // Values whose path has all words come before those that only describe them.
    const rank = (r) => (words.every((w) => r.path.toLowerCase().includes(w)) ? 0 : 1);
    const hits = rows.filter((r) => words.every((w) => r.text.includes(w)));
    hits.sort((a, b) => rank(a) - rank(b) || a.path.length - b.path.length);
    for (const hit of hits.slice(0, most)) {
      const link = document.createElement("a"),
        value = document.createElement("b");
      link.href = "#" + hit.id;
      link.append(hit.path + " ", value);
      value.textContent = hit.value;
      found.append(link);
    }
    const rest = document.createElement("p");
    rest.textContent =
      hits.length === 0 ? "No value has these words." : hits.length > most ? `${hits.length - most} more` : "";
    if (rest.textContent) found.append(rest);
  };
  box.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") box.value = "";
    if (event.key === "Escape") search();
    if (event.key === "Enter" && found.firstElementChild) found.firstElementChild.click();
  });
  found.addEventListener("click", (event) => {
    if (event.target.closest("a")) found.hidden = true;
  });
  box.addEventListener("focus", search);
})();
