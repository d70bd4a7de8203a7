// Functions that run in the page. Each returns what is wrong, so that a failure says where.

/// Texts that the picture around them cuts, texts of the GPU's picture that leave their box, and other elements whose
/// content is cut. Parts that scroll are left out, and so are plots out of view: those are drawn for another width until
/// they come into view.
export function clippedTexts() {
  const cut = [], slack = 1.5;
  const visible = e => e.checkVisibility({contentVisibilityAuto: true, visibilityProperty: true});
  const outside = (inner, outer) => inner.left < outer.left - slack || inner.right > outer.right + slack ||
    inner.top < outer.top - slack || inner.bottom > outer.bottom + slack;
  for (const text of document.querySelectorAll('svg text')) {
    if (!text.textContent.trim() || !visible(text) || getComputedStyle(text).opacity === '0') continue;
    const box = text.getBoundingClientRect();
    if (box.width === 0 || (text.closest('.plot') && (box.bottom < 0 || box.top > innerHeight))) continue;
    const frame = text.closest('g.box')?.querySelector('rect') ?? text.ownerSVGElement;
    if (outside(box, frame.getBoundingClientRect())) cut.push(text.textContent);
  }
  for (const e of document.querySelectorAll('body *')) {
    if (e.closest('svg') || !visible(e)) continue;
    const style = getComputedStyle(e);
    const hides = ['hidden', 'clip'].includes(style.overflowX);
    if (hides && e.scrollWidth > e.clientWidth + slack && e.clientWidth > 0) cut.push(e.textContent.slice(0, 60));
  }
  return cut.slice(0, 5);
}

/// Elements that reach beyond the right edge of the page, and lie in no part that scrolls.
export function sideways() {
  const edge = document.documentElement.clientWidth;
  const scrolls = e => {
    for (let p = e.parentElement; p; p = p.parentElement)
      if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX) && p !== document.body) return true;
    return false;
  };
  const over = [...document.querySelectorAll('body *')].filter(
    e => !e.closest('svg *') && e.checkVisibility() && e.getBoundingClientRect().right > edge + 1 && !scrolls(e));
  const more = document.documentElement.scrollWidth - edge;
  return more > 0 || over.length > 0 ? [more, ...over.slice(0, 3).map(e => `${e.tagName} ${e.className}`)] : [];
}

/// Titles that two charts share.
export function repeatedTitles() {
  const seen = new Map();
  for (const figure of document.querySelectorAll('figure')) {
    const words = [...figure.querySelectorAll('.finding, figcaption')].map(e => e.textContent).join('|');
    seen.set(words, (seen.get(words) ?? 0) + 1);
  }
  return [...seen].filter(([words, count]) => words && count > 1).map(([words]) => words);
}
