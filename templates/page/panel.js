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
  inPanel('.meaning').textContent = inPanel('.lacks') ? '' : document.querySelector(`.legend .${panel.className} + dd`).textContent;
  for (const place of all('.shown .references li > :is(a, code):first-child')) {
    const text = place.textContent;
    place.after(' ', button('Copy', () => copy(text, text), `Copy ${text}`));
  }
  inPanel('.others').replaceChildren(...othersAt(subject).flatMap(({ id, firstElementChild: line }) => [
    'See also: ', make('a', { href: linkTo(id), textContent: `${line.textContent}: ${rowAt(id)?.text.slice(0, 80)}` }), make('br'),
  ]));
  inPanel('.issue').hidden = !issueLink || !row;
  if (issueLink && row) inPanel('.issue a').href = newIssue(subject);
  say('');
}

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
