const filters = $('filters'), filterKey = 'filters.' + title;
let rows;

function startRequirements() {
  const box = make('div', { className: 'rows' }), kept = [];
  rows = [];
  for (const line of rowText.split('\n')) line.startsWith('<tr class=s') ? rows.push(new Row(line)) : kept.push(line);
  box.innerHTML = kept.join('\n');
  $('requirements').append(box);
  lists.requirements = new List(box.querySelector('tbody'));
  learn({ spec: new Set(), feature: new Set(), issue: new Set(), tag: new Set() }, 0);
}

// Collect the options of the filters when the browser is idle.
function learn(known, from) {
  for (const row of rows.slice(from, from + 500)) {
    known.spec.add(row.spec);
    if (row.search && row.line.includes('<i ')) for (const name of ['feature', 'issue', 'tag']) for (const value of row.noted(name)) known[name].add(value);
  }
  if (from < rows.length) idle(() => learn(known, from + 500));
  else for (const name in known) for (const value of [...known[name]].sort()) offer(filters[name], value);
}

function clear() {
  filters.reset();
  filters.q.focus();
}

function offer(select, value) {
  const label = select.name === 'spec' && viewIds.has(value) ? heading($(value)).textContent : value;
  if (![...select.options].some(option => option.value === value)) select.add(new Option(label, value));
}

function readFilters(query) {
  const given = new URLSearchParams(query);
  for (const control of filters.elements) {
    const value = given.get(control.name) ?? '', { options, type } = control;
    if (type === 'checkbox') control.checked = value.split(',').some(word => ` ${control.value} ${control.dataset.was} `.includes(` ${word} `));
    else if (control.name) {
      if (value && options) offer(control, value);
      control.value = value || options?.[0].value || '';
    }
  }
}

// A filter with several values accepts any of them; a requirement with several notes needs one that matches.
const check = ([name, value]) => {
  const wanted = name === 'q' ? folded(value) : value.split(',');
  return row => name === 'q' ? row.search.includes(wanted) : [row[name] ?? row.noted(name)].flat().some(own => own === value || wanted.includes(own));
};

function filterRequirements() {
  const form = new FormData(filters);
  const given = [...new Set(form.keys())].map(name => [name, form.getAll(name).join(',')]).filter(([, value]) => value && value !== 'any');
  const checks = given.map(check);
  const shown = rows.filter(row => checks.every(holds => holds(row)));
  lists.requirements.show(shown.map(row => row.line));
  if (shown.length || !given.length) $('count').textContent = counted(shown.length, rows, 'requirement');
  else $('count').replaceChildren('No matches: ', button('clear filters', clear));
  return given.map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%2C', ',')}`).join('&');
}

on(filters, 'input reset', () => setTimeout(() => {
  const query = filterRequirements();
  stored(filterKey, query);
  rewrite('#requirements?' + query);
}));
