function step(by, gap = '') {
  const next = current.id === 'requirements' ? rowBeside(by, gap) : beside(by, gap) ?? (gap && elsewhere(by));
  if (!next) say(`No ${by > 0 ? 'further' : 'earlier'} ${gap ? 'open requirement' : 'requirement'}.`);
  else if (next.id) go(linkTo(next.id), { replace: subject });
  else next.querySelector('a').focus();
}

function following(items, start, by) {
  const at = items.indexOf(start);
  return by > 0 ? items.slice(at + 1) : items.slice(0, Math.max(at, 0)).reverse();
}

function beside(by, gap) {
  const items = all(`.part, ${SUBJECT}`, current);
  const start = subject?.element ?? items.find(item => item.getBoundingClientRect().bottom > headroom() + 1);
  return following(items, start, by).find(item => item.matches('.requirements > li' + gap));
}

function elsewhere(by) {
  for (const view of following(views, current, by)) {
    const later = view.querySelector(':scope > .later');
    const found = later && !/<li [^>]*class=s[0-4]/.test(later.textContent) ? [] : all('.requirements > li' + GAP, opened(view));
    if (found.length) return found.at(by > 0 ? 0 : -1);
  }
}

const rowBeside = (by, gap) =>
  following(all('tbody tr', current), document.activeElement.closest('tbody tr'), by).find(row => row.matches('tr' + gap));
