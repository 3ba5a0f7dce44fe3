const panel = $('panel'), inPanel = selector => panel.querySelector(selector), narrow = matchMedia('(max-width: 56.25rem)');
let subject, opener;

function openPanel(element, from) {
  subject = subjectOf(element);
  opener = from?.href && current.contains(from) ? from : subject.text ?? subject.link;
  panel.className = element.classList[0];
  panel.hidden = false;
  for (const one of [element, ...fragmentsIn(subject)]) one.classList.add('on');
  fillPanel(subject);
  panel.scrollTop = 0;
}

function fillPanel({ element, quote, target, row, link }) {
  const words = [link.textContent, row?.level.replace('OTHER', 'other'), element.querySelector('b')?.textContent];
  $('panel-title').textContent = words.filter(Boolean).join(' · ');
  inPanel('blockquote').textContent = quote;
  inPanel('blockquote').hidden = inPanel('.copies').hidden = !quote;
  inPanel('.target code').textContent = target;
  inPanel('.shown').innerHTML = element.querySelector('noscript')?.textContent ?? '';
  inPanel('.meaning').textContent = inPanel('.lacks') ? '' : meaningOf(element);
  for (const place of all('.shown .references li > :is(a, code):first-child')) addCopy(place, place.textContent);
  inPanel('.others').replaceChildren(...othersAt(subject).flatMap(otherLink));
  inPanel('.issue').hidden = !issueLink || !row;
  if (issueLink && row) inPanel('.issue a').href = newIssue(subject);
  say('');
}

const addCopy = (place, text) => place.after(' ', button('Copy', () => copy(text, text), `Copy ${text}`));

function otherLink({ id, firstElementChild: line }) {
  const link = make('a', { href: linkTo(id), textContent: `${line.textContent}: ${rowAt(id)?.text.slice(0, 80)}` });
  return ['See also: ', link, make('br')];
}

const meaningOf = ({ classList }) => document.querySelector(`.legend .${classList[0]} + dd`).textContent;

function closePanel() {
  for (const marked of all('.on', subject?.part)) marked.classList.remove('on');
  panel.hidden = true;
  subject = null;
}

function leavePanel() {
  rewrite(linkTo(subject.part.id));
  closePanel();
  focus(opener);
}
