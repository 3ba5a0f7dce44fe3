const panel = $('panel'), part = selector => panel.querySelector(selector);
const narrow = matchMedia('(max-width: 56.25rem)');
let subject, opener;

function openPanel(element, from) {
  opener = from?.closest('.view') === current && from.href ? from : null;
  closeMarks();
  subject = subjectOf(element);
  panel.className = element.classList[0];
  panel.hidden = false;
  fillPanel(subject);
  markSubject();
  coverRest();
  panel.scrollTop = 0;
}

function fillPanel({ element, badge, level, quote, target, row }) {
  part('h2').textContent = level ? `${badge} · ${level}` : badge;
  part('blockquote').textContent = quote;
  part('blockquote').hidden = part('.copies').hidden = !quote;
  part('.target code').textContent = target;
  part('.shown').innerHTML = element.querySelector('noscript')?.textContent ?? '';
  for (const line of all('.shown .references li')) addCopy(line.querySelector('a, code') ?? line.firstChild);
  part('.others').replaceChildren(...othersAt(subject).map(otherLink));
  part('.issue').hidden = !issueLink;
  if (issueLink && row) part('.issue a').href = newIssue(subject);
  say('');
}

function addCopy(place) {
  const button = document.createElement('button');
  button.type = 'button';
  button.dataset.do = 'place';
  button.textContent = 'Copy';
  button.ariaLabel = `Copy ${place.textContent}`;
  place.after(' ', button);
}

function otherLink(element) {
  const line = document.createElement('p'), link = document.createElement('a');
  link.href = linkTo(element.id);
  link.textContent = `${element.querySelector('a').textContent}: ${(rowAt(element.id)?.text ?? '').slice(0, 80)}`;
  line.append('Also here: ', link);
  return line;
}

function markSubject() {
  const { element, part } = subject, id = element.id.slice(part.id.length + 1);
  const text = textOf(element);
  for (const fragment of [text, ...fragmentsOf(part, id), ...furtherOf(text)]) fragment?.classList.add('on');
  element.classList.add('on');
}

// The fragments behind a link that say nothing of whose they are.
function furtherOf(text) {
  const fragments = text ? all('a[href], mark', text.closest('pre')) : [];
  const behind = fragments.slice(fragments.indexOf(text) + 1), end = behind.findIndex(one => one.matches('a'));
  return behind.slice(0, end < 0 ? behind.length : end).filter(one => !one.dataset.r && !one.matches('.s8'));
}

function closeMarks() {
  for (const marked of all('.on', current)) marked.classList.remove('on');
}

function closePanel() {
  if (panel.hidden) return;
  closeMarks();
  panel.hidden = true;
  subject = null;
  coverRest();
}

function leavePanel() {
  const { element, part } = subject, back = opener?.isConnected ? opener : textOf(element) ?? element.querySelector('a');
  closePanel();
  history.replaceState(null, '', linkTo(part.id));
  arrived = location.href;
  back.focus({ preventScroll: true });
}

// The sheet of a narrow screen leaves nothing else to go to.
function coverRest() {
  for (const other of panel.parentElement.children)
    if (other !== panel && other.id !== 'help') other.inert = narrow.matches && !panel.hidden;
}
narrow.addEventListener('change', coverRest);
