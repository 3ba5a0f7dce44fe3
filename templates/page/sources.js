const sourceFilter = $('source-filter'), sourceText = sourceFilter.q;
let files;

function startSources() {
  let folder = '';
  files = [];
  for (const line of listText('sources').split('\n')) {
    if (line.startsWith('<h3')) folder = line;
    else if (line) files.push({ folder, line, search: folded(plain(line)) });
  }
  lists.sources = new List(make('div'));
  $('sources').append(lists.sources.box);
}

function filterSources() {
  const shown = files.filter(file => file.search.includes(folded(sourceText.value)));
  lists.sources.show(shown.map(({ folder, line }, at) => (folder === shown[at - 1]?.folder ? '' : folder) + line));
  $('source-count').textContent = counted(shown.length, files, 'file');
}

on(sourceFilter, 'input', () => {
  filterSources();
  rewrite('#sources' + (sourceText.value && '?q=' + encodeURIComponent(sourceText.value)));
});
for (const form of [filters, sourceFilter]) {
  form.hidden = false;
  on(form, 'submit', event => event.preventDefault());
}

function showList({ id }) {
  const [, query] = /\?(.*)/.exec(location.hash) ?? [];
  if (id === 'requirements') {
    if (!rows) startRequirements();
    readFilters(query ?? stored(filterKey) ?? '');
    const given = filterRequirements();
    if (given && query === undefined) rewrite('#requirements?' + given);
  } else if (id === 'sources') {
    if (!files) startSources();
    sourceText.value = new URLSearchParams(query).get('q') ?? '';
    filterSources();
  }
}
