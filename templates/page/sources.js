const sourceFilter = $('source-filter');
let files;

function startSources() {
  let folder = '';
  files = [];
  for (const line of listText($('sources')).split('\n')) {
    if (/^<h3 class="?folder/.test(line)) folder = line;
    else if (/^<div class="?file/.test(line)) files.push({ folder, line, search: folded(plain(line)) });
  }
  const box = document.createElement('div');
  $('sources').append(box);
  lists.sources = new List(box);
}

function filterSources() {
  const text = folded(sourceFilter.q.value);
  const shown = files.filter(file => file.search.includes(text));
  lists.sources.show(shown.map((file, at) => (file.folder === shown[at - 1]?.folder ? '' : file.folder) + file.line));
  $('source-count').textContent = found(shown.length, files.length, 'file', 'files');
}

sourceFilter.addEventListener('input', () => {
  filterSources();
  rewrite(sourceFilter.q.value ? '#sources?q=' + encodeURIComponent(sourceFilter.q.value) : '#sources');
});
for (const form of [filters, sourceFilter]) {
  form.hidden = false;
  form.addEventListener('submit', event => event.preventDefault());
}

function rewrite(hash) {
  history.replaceState(history.state, '', hash);
  arrived = location.href;
}

let listed = {};
function showList(view) {
  const [, query] = /\?(.*)/s.exec(location.hash) ?? [];
  if (view.id === 'requirements') {
    if (!rows) startRequirements();
    const given = query ?? stored(filterKey) ?? '';
    if (listed.requirements === given && query === undefined && !given) return;
    readFilters(given);
    const shown = filterRequirements();
    if (query === undefined && shown) rewrite('#requirements?' + shown);
  } else if (view.id === 'sources') {
    if (!files) startSources();
    sourceFilter.q.value = new URLSearchParams(query).get('q') ?? '';
    filterSources();
  }
}
