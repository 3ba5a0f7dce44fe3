// The rows of the requirements table stay text until they are shown.
const listText = id => $(id).querySelector('noscript').textContent, rowText = listText('requirements');
const folded = text => text.toLowerCase().replace(/\s+/g, ' ').trim();

class Row {
  constructor(line) { this.line = line; }
  cell(number) { return plain(this.line.split(/<td[^>]*>/)[number]); }
  noted([kind]) { return [...this.line.matchAll(`<i class=${kind}>(.*?)</i>`)].map(found => plain(found[1])); }
  get status() { return filters.status[/\d/.exec(this.line)[0]]?.value ?? 'not-applicable'; }
  get level() { return /<td>(MUST|SHOULD|MAY)<td>/.exec(this.line)?.[1] ?? 'OTHER'; }
  get anchor() { return decoded(plain(/#[^"]*/.exec(this.line)[0])); }
  get spec() { return this.own ??= starts(this.anchor).find(id => viewIds.has(id)); }
  get text() { return this.cell(4); }
  get test() { return +this.cell(6) ? 'yes' : 'no'; }
  get search() { return this.folded ??= folded(`${this.text} ${this.cell(3)} ${this.anchor}`); }
}

let linesByLink;
function rowAt(anchor) {
  linesByLink ??= new Map(rowText.split('\n').map(line => [line.split('"')[1], line]));
  const line = linesByLink.get(linkTo(anchor).replaceAll('&', '&amp;'));
  return line && new Row(line);
}
