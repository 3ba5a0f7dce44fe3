const gap = ':is(.s0, .s1, .s2, .s3, .s4)';

function step(by, gaps) {
  const next = current.id === 'requirements' ? nextRow(by, gaps) : nextHere(by, gaps) ?? (gaps && nextElsewhere(by));
  if (!next) say(`No ${by > 0 ? 'further' : 'earlier'} ${gaps ? 'gap' : 'requirement'}.`);
  else if (next.matches('tr')) next.querySelector('a').focus();
  else go(linkTo(next.id), { replace: !panel.hidden });
}

function nextHere(by, gaps) {
  const items = all(`.part, ${SUBJECT}`, current);
  const start = subject?.element ?? items.find(item => item.getBoundingClientRect().bottom > headroom() + 1);
  const behind = by > 0 ? items.slice(items.indexOf(start) + 1) : items.slice(0, items.indexOf(start)).reverse();
  return behind.find(item => item.matches(gaps ? 'li' + gap : 'li'));
}

function nextElsewhere(by) {
  const order = by > 0 ? views : views.toReversed();
  for (const view of order.slice(order.indexOf(current) + 1)) {
    const later = view.querySelector(':scope > .later');
    if (later && !/<li id="[^"]*" class="?s[0-4]\b/.test(later.textContent)) continue;
    const found = all('.requirements > li' + gap, opened(view)).at(by > 0 ? 0 : -1);
    if (found) return found;
  }
}

function nextRow(by, gaps) {
  const rows = all('tbody tr', current), at = rows.indexOf(document.activeElement.closest('tbody tr'));
  const behind = by > 0 ? rows.slice(at + 1) : rows.slice(0, Math.max(at, 0)).reverse();
  return behind.find(row => !gaps || row.matches(gap));
}
