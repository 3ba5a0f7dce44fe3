const views = all('main > .view'), viewIds = new Set(views.map(view => view.id));
let current, arrived;

const heading = view => view.querySelector('h2');

// A large article is parsed when it is first shown.
function opened(view) {
  const later = view.querySelector(':scope > .later');
  if (later) later.outerHTML = later.textContent.replaceAll('<div class=refs>', '<noscript>').replaceAll('</div>', '</noscript>');
  return view;
}

function show(view) {
  for (const other of views) if (other !== view && !other.hidden) other.setAttribute('hidden', 'until-found');
  view.removeAttribute('hidden');
  // The file contains only the beginning of each text, and style sheets cut what has no room.
  for (const item of all('.requirements>li', view)) {
    const node = item.querySelector('noscript')?.previousSibling ?? item.lastChild, [shown, end] = node.data.split(' …');
    if (end != null) {
      let { text } = rowAt(item.id), at = 0;
      while (!text.startsWith(shown.slice(at))) at++;
      node.data = shown.slice(0, at) + text;
    }
  }
  root.classList.add('ready');
  if (view !== current) moveContents(current, view);
  current = view;
  document.title = `${heading(view).textContent} · ${title}`;
}

function moveContents(from, to) {
  const moved = $('specifications').querySelector('.contents'), contents = to.querySelector('.contents');
  const link = all('#specifications a').find(one => decoded(one.hash) === to.id), group = link?.closest('details');
  if (moved) from.insertBefore(moved, from.querySelector(':scope > :is(.left-out, .part)'));
  if (link && contents) link.after(contents);
  if (group) group.open = true;
}

function markCurrent(anchor) {
  for (const link of all('nav a')) {
    const place = decoded(link.hash);
    link.ariaCurrent = place === current.id ? 'page' : place && (anchor + '/').startsWith(place + '/') ? 'location' : null;
    // Chromium starts the tab order at an element that was scrolled into view; the overview needs no scrolling.
    if (link.ariaCurrent && current !== views[0] && !narrow.matches) link.scrollIntoView({ block: 'nearest' });
  }
}

// Find-in-page reveals a hidden view.
on(window, 'beforematch', ({ target }) => {
  const view = target.closest('.view');
  if (view === current || placeOf(hashAnchor()).view === view) return;
  closePanel();
  history.pushState(null, '', linkTo(view.id));
  show(view);
  markCurrent(view.id);
  arrived = location.href;
});
