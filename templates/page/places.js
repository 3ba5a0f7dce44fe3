history.scrollRestoration = 'manual';
let saving, settling = 0, touched;

const headroom = () => parseFloat(getComputedStyle(root).scrollPaddingTop) || 0;

const named = ({ id, hash }) => id ? '#' + CSS.escape(id) : hash && `[href="${CSS.escape(hash)}"]`;

function savePlace() {
  clearTimeout(saving);
  const above = document.elementFromPoint(innerWidth / 2, headroom() + 1)?.closest('main [id]');
  const top = above?.getBoundingClientRect().top;
  history.replaceState({ y: scrollY, at: above?.id, top, focus: named(document.activeElement) }, '');
}

function restore({ y, at, top, focus: focused }, view) {
  const element = $(at);
  if (view.contains(element)) align(element, top);
  else settle(() => y - scrollY);
  focus(focused && (view.querySelector(focused) ?? document.querySelector(focused)) || heading(view));
}

// Browsers estimate the heights of unseen parts, so one scroll is not enough.
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

on(window, 'scroll focusin', () => {
  clearTimeout(saving);
  saving = setTimeout(savePlace, 200);
}, { passive: true });
on(window, 'pagehide', savePlace);
on(window, 'wheel touchmove keydown pointerdown', () => (settling++, touched = true), { passive: true, capture: true });
