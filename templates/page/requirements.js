const lists = {}, filters = $('filters'), NAMES = ['status', 'level', 'spec', 'test', 'feature', 'tag', 'q'];
let rows;

function startRequirements() {
  const at = rowText.search(/<tr class="?s\d/), end = rowText.indexOf('</tbody>');
  rows = at < 0 ? [] : rowText.slice(at, end).trim().split('\n').map(line => new Row(line));
  const box = document.createElement('div');
  box.className = 'rows';
  box.innerHTML = at < 0 ? rowText : rowText.slice(0, at) + rowText.slice(end);
  $('requirements').append(box);
  lists.requirements = new List(box.querySelector('tbody'));
  learn({ spec: new Set(), feature: new Set(), tag: new Set() });
}

// What there is to choose from is gathered when there is time.
function learn(values, from = 0) {
  for (const row of rows.slice(from, from + 500)) {
    values.spec.add(row.spec);
    if (row.search && row.line.includes('<i ')) for (const name of ['feature', 'tag']) for (const one of row[name]) values[name].add(one);
  }
  if (from < rows.length) idle(() => learn(values, from + 500));
  else for (const name in values) for (const value of [...values[name]].sort()) offer(filters[name], value);
}

function offer(select, value) {
  if (!all('option', select).some(option => option.value === value))
    select.add(new Option(select.name === 'spec' && viewIds.has(value) ? heading($(value)).textContent : value, value));
}

function readFilters(query) {
  const given = new URLSearchParams(query);
  for (const control of filters.elements) {
    const value = given.get(control.name) ?? '', { options } = control;
    if (control.type === 'checkbox') control.checked = value.replace(/\btodo\b/, 'to-do').split(',').includes(control.value);
    else if (control.name) {
      if (value && options) offer(control, value);
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
  q: value => row => row.search.includes(folded(value)),
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
