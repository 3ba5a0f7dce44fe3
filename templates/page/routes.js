const hashAnchor = () => decoded(location.hash.split('?')[0]);

const starts = anchor => {
  const found = [anchor];
  for (let at; (at = anchor.lastIndexOf('/')) > 0; found.push(anchor)) anchor = anchor.slice(0, at);
  return found;
};

function placeOf(anchor) {
  const path = starts(anchor || 'overview');
  const view = views.find(one => one.contains($(path[0]))) ?? path.map($).find(one => views.includes(one));
  if (!view) return { view: views[0], element: views[0], exact: anchor === 'main' };
  opened(view);
  const element = path.map($).find(one => view.contains(one));
  return { view, element, exact: element.id === path[0] };
}

// awslabs duvet's routes: #/spec/LOCATOR/SECTION#A12
function fromUpstream() {
  const [, locator, section] = /^#\/spec\/([^/#]+)\/?([^#]*)/.exec(location.hash) ?? [];
  const view = locator && views.find(one => one.dataset.locator === decoded('#' + locator));
  if (!view) return;
  const id = decoded('#' + section);
  const part = id && all('.part', opened(view)).find(one => (one.dataset.id ?? one.id.slice(view.id.length + 1)) === id);
  location.replace(linkTo(id ? part?.id ?? `${view.id}/${id}` : view.id));
  return true;
}

function arrive(how = {}) {
  if (fromUpstream()) return;
  const before = current, { view, element, exact } = placeOf(hashAnchor());
  show(view);
  showList(view);
  arrived = location.href;
  markCurrent(element.id);
  if (element.matches(SUBJECT)) openPanel(element, how.from);
  else closePanel();
  $('notice').hidden = exact;
  if (!exact) say(`${hashAnchor()} is not in this report.`);
  position(view, element, { ...how, turned: how.load || view !== before });
}

function position(view, element, { from, load, place, turned }) {
  let focused = heading(view);
  if (place) return restore(place, view);
  if (element.matches(SUBJECT)) {
    const text = textOf(element) ?? element;
    focused = part('h2');
    if (turned) align(text);
    else if (from?.closest('.view') !== view) bringIntoView(text);
  } else if (element !== view) {
    focused = element.querySelector('h3 a') ?? focused;
    align(element);
  } else if (turned || from) settle(() => -scrollY);
  if (!load || element !== views[0]) focused.focus({ preventScroll: true });
}

function go(href, { from, replace } = {}) {
  savePlace();
  if (href !== location.hash) history[replace ? 'replaceState' : 'pushState'](null, '', href);
  arrive({ from });
}

addEventListener('popstate', ({ state }) => {
  clearTimeout(saving);
  arrive({ place: state });
});
addEventListener('hashchange', () => {
  if (location.href !== arrived) arrive();
});
addEventListener('click', event => {
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.target.closest('a[href^="#"]'), mark = event.target.closest('pre mark');
  if (link) {
    event.preventDefault();
    if (link.matches('.skip')) $('main').focus();
    else go(link.getAttribute('href'), { from: link });
  } else if (mark && getSelection().isCollapsed) go(linkTo(ownerOf(mark)), { from: mark });
});
