// The rows of the list of requirements stay text until they are shown.
const listText = view => view.querySelector('noscript').textContent;
const rowText = listText($('requirements'));
const SLUGS = 'uncited to-do missing-implementation partial missing-test exception implied complete cited not-applicable'.split(' ');
const LEVELS = ['MUST', 'SHOULD', 'MAY'];
const folded = text => text.toLowerCase().replace(/\s+/g, ' ').trim();

class Row {
  constructor(line) { this.line = line; }
  get cells() { return this.line.split(/<td[^>]*>/); }
  get status() { return SLUGS[/\d/.exec(this.line)[0]]; }
  get level() { return LEVELS.find(level => this.line.includes(`<td>${level}<td>`)) ?? 'OTHER'; }
  get anchor() { return decoded(plain(/href="([^"]*)/.exec(this.line)[1])); }
  get spec() { return this.own ??= starts(this.anchor).find(id => viewIds.has(id)); }
  get text() { return plain(this.cells[4]); }
  get test() { return this.cells[6] > 0 ? 'yes' : 'no'; }
  get feature() { return this.noted('f'); }
  get tag() { return this.noted('t'); }
  get search() { return this.folded ??= folded(plain(this.cells[4] + ' ' + this.cells[3]) + ' ' + this.anchor); }

  noted(kind) {
    return [...this.line.matchAll(RegExp(`<i class="?${kind}"?>(.*?)</i>`, 'g'))].map(found => plain(found[1]));
  }
}

function rowAt(anchor) {
  const at = rowText.indexOf(`"${linkTo(anchor).replaceAll('&', '&amp;').replaceAll("'", '&#39;')}"`);
  return at < 0 ? null : new Row(rowText.slice(rowText.lastIndexOf('\n', at) + 1, rowText.indexOf('\n', at)));
}
