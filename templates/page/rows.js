// The rows of the list of requirements stay text until they are shown.
const listText = view => view.querySelector(':scope > noscript, :scope > :not(form) > noscript')?.textContent ?? '';
const rowText = listText($('requirements'));
const slugs = 'uncited to-do missing-implementation partial missing-test exception implied complete cited not-applicable'.split(' ');

function rowOf(line) {
  const [start, link, level, section, text, code, tests, notes = ''] = line.split(/<td[^>]*>/);
  const anchor = decoded(plain(/href="([^"]*)/.exec(link)[1]));
  const noted = kind => [...notes.matchAll(RegExp(`<i class="?${kind}"?>(.*?)</i>`, 'g'))].map(found => plain(found[1]));
  return {
    line, anchor, level, text, section, notes,
    status: slugs[/class="?s(\d)/.exec(start)[1]],
    badge: plain(link).trim(),
    test: tests > 0 ? 'yes' : 'no',
    get feature() { return noted('f'); },
    get tag() { return noted('t'); },
  };
}

function rowAt(anchor) {
  const href = `href="${linkTo(anchor).replaceAll('&', '&amp;').replaceAll("'", '&#39;')}"`;
  const at = rowText.indexOf(href);
  return at < 0 ? null : rowOf(rowText.slice(rowText.lastIndexOf('\n', at) + 1, rowText.indexOf('\n', at)));
}
