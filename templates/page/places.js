history.scrollRestoration = 'manual';
let saving, settling = 0, touched = false;

const named = element =>
  element.id ? '#' + CSS.escape(element.id)
    : element.matches('a[href]') ? `a[href="${CSS.escape(element.getAttribute('href'))}"]`
      : element.name ? `[name="${element.name}"]` + (element.type === 'checkbox' ? `[value="${element.value}"]` : '')
        : '';

function savePlace() {
  clearTimeout(saving);
  const above = document.elementFromPoint(innerWidth / 2, headroom() + 1)?.closest('main [id]');
  const place = { y: scrollY, at: above?.id, top: above?.getBoundingClientRect().top, focus: named(document.activeElement) };
  history.replaceState(place, '');
}
const saveSoon = () => {
  clearTimeout(saving);
  saving = setTimeout(savePlace, 200);
};

const headroom = () => parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;

// Heights are estimates until something has been seen, so one scroll is not enough.
function settle(distance) {
  const mine = ++settling;
  let calm = 0, frames = 0;
  const step = () => {
    if (mine !== settling) return;
    const by = Math.round(distance());
    calm = by ? 0 : calm + 1;
    if (by) scrollBy({ top: by, behavior: 'instant' });
    if (calm < 4 && ++frames < 40) requestAnimationFrame(step);
  };
  step();
}
const align = (element, top = headroom()) => settle(() => element.getBoundingClientRect().top - top);
function bringIntoView(element) {
  settle(() => {
    const { top } = element.getBoundingClientRect();
    return top >= headroom() && top < innerHeight * 0.7 ? 0 : top - innerHeight / 3;
  });
}

function restore({ y, at, top, focus }, view) {
  const element = $(at);
  if (element && view.contains(element)) align(element, top);
  else settle(() => y - scrollY);
  const focused = focus && (view.querySelector(focus) ?? document.querySelector(focus));
  (focused || heading(view)).focus({ preventScroll: true });
}

addEventListener('scroll', saveSoon, { passive: true });
addEventListener('focusin', saveSoon);
addEventListener('pagehide', savePlace);
for (const kind of ['wheel', 'touchmove', 'keydown', 'pointerdown'])
  addEventListener(kind, () => (settling++, touched = true), { passive: true, capture: true });
