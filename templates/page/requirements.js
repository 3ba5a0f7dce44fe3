const lists = {}, filters = $('filters'), NAMES = ['status', 'level', 'spec', 'test', 'feature', 'tag', 'q'];
const LEVELS = ['MUST', 'SHOULD', 'MAY'];
let rows;

function startRequirements() {
  const at = rowText.search(/<tr class="?s\d/), end = rowText.indexOf('</tbody>');
  rows = rowText.slice(at, end).split('\n').filter(line => line.startsWith('<tr')).map(rowOf);
  const box = document.createElement('div');
  box.className = 'rows';
  box.innerHTML = at < 0 ? rowText : rowText.slice(0, at) + rowText.slice(end);
  $('requirements').append(box);
  for (const row of rows) {
    row.spec = starts(row.anchor).find(one => views.includes($(one)));
    row.level = LEVELS.includes(row.level) ? row.level : 'OTHER';
    row.search = folded(plain(`${row.text} ${row.section} ${row.anchor}`));
  }
  fillOptions();
  lists.requirements = new List(box.querySelector('tbody') ?? box);
}

function fillOptions() {
  const noted = rows.filter(row => row.notes);
  for (const spec of new Set(rows.map(row => row.spec))) filters.spec.append(new Option(heading($(spec)).textContent, spec));
  for (const name of ['feature', 'tag'])
    for (const value of [...new Set(noted.flatMap(row => row[name]))].sort()) filters[name].append(new Option(value));
}

function readFilters(query) {
  const given = new URLSearchParams(query);
  for (const control of filters.elements) {
    const value = given.get(control.name) ?? '', { options } = control;
    if (control.type === 'checkbox') control.checked = value.replace(/\btodo\b/, 'to-do').split(',').includes(control.value);
    else if (control.name) {
      if (value && options && !all('option', control).some(option => option.value === value)) options.add(new Option(value));
      control.value = value || options?.[0].value || '';
    }
  }
}

const wanted = () => NAMES.map(name => [name, new FormData(filters).getAll(name).filter(value => value && value !== 'any').join(',')])
  .filter(([, value]) => value);

const queryOf = given => given.map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%2C', ',')}`).join('&');

const tests = {
  status: value => row => value.split(',').includes(row.status),
  level: value => row => value.split(',').includes(row.level),
  feature: value => row => row.feature.includes(value),
  tag: value => row => row.tag.includes(value),
  q: value => row => row.search.includes(folded(value).trim()),
};
const testOf = ([name, value]) => tests[name]?.(value) ?? (row => row[name] === value);

function filterRequirements() {
  const given = wanted(), all = given.map(testOf);
  const shown = rows.filter(row => all.every(test => test(row)));
  lists.requirements.show(shown.map(row => row.line));
  $('count').textContent = shown.length ? found(shown.length, rows.length, 'requirement', 'requirements') : 'No requirement matches: ';
  if (!shown.length && given.length) $('count').append(clearing());
  return queryOf(given);
}

function clearing() {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'clear the filters';
  button.addEventListener('click', () => {
    filters.reset();
    filters.q.focus();
  });
  return button;
}

const filterKey = 'filters.' + title;
function changed() {
  const query = filterRequirements();
  store(filterKey, query);
  rewrite('#requirements?' + query);
}

filters.addEventListener('input', changed);
filters.addEventListener('reset', () => setTimeout(changed));
