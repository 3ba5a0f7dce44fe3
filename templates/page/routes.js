const hashAnchor = () => decoded(location.hash.split('?')[0]);

// a/b/c, a/b, a
const starts = anchor => anchor.split('/').map((_, at, parts) => parts.slice(0, parts.length - at).join('/'));

/*
##= man/spec/page.md#links
##% The report MUST open at the place that the anchor of a link names.
##= man/spec/page.md#links
##% If the anchor of a link no longer exists, the report MUST open at the nearest place, and say so.
*/
function placeOf(anchor) {
  const path = starts(anchor || 'overview');
  const view = views.find(one => one.contains($(anchor))) ?? views.find(one => path.includes(one.id));
  if (!view) return { view: views[0], element: views[0], exact: anchor === 'main' };
  const element = path.map(one => $(one)).find(one => opened(view).contains(one));
  // The id that a specification gives a requirement is inside it.
  return { view, element: element.closest(SUBJECT) ?? element, exact: element.id === path[0] };
}

// #/spec/LOCATOR/SECTION#A12
/*
##= man/spec/page.md#links
##% For an anchor of awslabs duvet's report, the report MUST show the same specification and section.
*/
function fromUpstream() {
  const [, locator, section] = /^#\/spec(\/[^/#]+)(\/[^#]+)?/.exec(location.hash) ?? [];
  const view = locator && views.find(one => one.dataset.locator === decoded(locator));
  if (!view) return;
  const id = section && decoded(section), part = all('.part', opened(view)).find(one => sectionOf(one, view) === id);
  location.replace(linkTo(part?.id ?? (id ? `${view.id}/${id}` : view.id)));
  return true;
}

function arrive(how = {}) {
  if (fromUpstream()) return;
  const before = current, { view, element, exact } = placeOf(hashAnchor());
  show(view);
  showList(view);
  arrived = location.href;
  markCurrent(element.id);
  closePanel();
  say(exact ? '' : `${hashAnchor()} is not in this report.`);
  if (element.matches(SUBJECT)) openPanel(element, how.from);
  position(view, element, { ...how, turned: how.load || view !== before });
}

function position(view, element, { from, load, place, turned }) {
  let focused = heading(view);
  if (place) return restore(place, view);
  if (subject) {
    focused = $('panel-title');
    // On a narrow screen the panel covers the lower part of the window.
    if (turned || narrow.matches) align(subject.shown);
    else if (from?.closest('.view') !== view) settle(() => {
      const { top } = subject.shown.getBoundingClientRect();
      return top >= headroom() && top < innerHeight * 0.7 ? 0 : top - innerHeight / 3;
    });
  } else if (element !== view) {
    focused = element.querySelector('h3 a') ?? focused;
    align(element);
  } else if (!load && (turned || from)) settle(() => -scrollY);
  if (!load || element !== views[0]) focus(focused);
}

function go(href, { from, replace } = {}) {
  savePlace();
  if (href !== location.hash) history[replace ? 'replaceState' : 'pushState'](null, '', href);
  arrive({ from });
}

function rewrite(hash) {
  history.replaceState(history.state, '', hash);
  arrived = location.href;
}

on(window, 'popstate', ({ state }) => {
  clearTimeout(saving);
  arrive({ place: state });
});
on(window, 'hashchange', () => location.href === arrived || arrive());
on(window, 'click', event => {
  const { target, button, ctrlKey, metaKey, shiftKey, altKey } = event;
  if (button || ctrlKey || metaKey || shiftKey || altKey) return;
  const from = target.closest('a[href^="#"], pre mark');
  if (!from || from.matches('mark') && !getSelection().isCollapsed) return;
  event.preventDefault();
  if (from.matches('.skip')) $('main').focus();
  else go(from.getAttribute('href') ?? linkTo(ownerOf(from)), { from });
});
