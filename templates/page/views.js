const views = all('main > .view');
const viewIds = new Set(views.map(view => view.id));
let current, arrived;

const heading = view => view.querySelector('h2');

// An article that is held back is parsed when it is shown.
function opened(view) {
  const later = view.querySelector(':scope > noscript.later');
  if (later) later.outerHTML = later.textContent.replace(/<div class="?refs"?>/g, '<noscript>').replaceAll('</div>', '</noscript>');
  return view;
}

function show(view) {
  for (const other of views) if (other !== view && !other.hasAttribute('hidden')) other.setAttribute('hidden', 'until-found');
  view.removeAttribute('hidden');
  document.documentElement.classList.add('ready');
  if (view !== current) moveContents(current, view);
  current = view;
  document.title = `${heading(view).textContent} · ${title}`;
}

const linkOf = view => all('#specifications a').find(link => decoded(link.hash) === view.id);

function moveContents(from, to) {
  const moved = $('specifications').querySelector('.contents');
  const link = linkOf(to), contents = to.querySelector('.contents');
  if (moved) from.insertBefore(moved, from.querySelector(':scope > :is(.left-out, .part)'));
  if (link && contents) link.after(contents);
  const group = link?.closest('details:not(.contents)');
  if (group) group.open = true;
}

function markCurrent(anchor) {
  for (const link of all('nav [aria-current], main [aria-current]')) link.removeAttribute('aria-current');
  for (const link of all('nav a')) {
    const place = decoded(link.hash);
    if (place === current.id) link.ariaCurrent = 'page';
    else if (place && (anchor + '/').startsWith(place + '/')) link.ariaCurrent = 'location';
  }
}

// What find-in-page or the browser itself brings up.
addEventListener('beforematch', event => {
  const view = event.target.closest('.view');
  if (view === current || placeOf(hashAnchor()).view === view) return;
  history.pushState(null, '', linkTo(view.id));
  closePanel();
  show(view);
  markCurrent(view.id);
  arrived = location.href;
});
