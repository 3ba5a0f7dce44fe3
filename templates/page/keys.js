const help = $('help'), keysOn = $('keys-on');
keysOn.checked = stored('keys') !== 'off';
keysOn.addEventListener('change', () => store('keys', keysOn.checked ? 'on' : 'off'));
help.querySelector('.close').addEventListener('click', () => help.close());
$('keys').hidden = false;
$('keys').addEventListener('click', () => help.showModal());
let waiting = 0;

function focusFilter() {
  if (!lists[current.id]) go('#requirements');
  current.querySelector('[name=q]').focus();
}

function copyCurrent() {
  const row = document.activeElement.closest('#requirements tbody tr');
  if (row) {
    const { element } = placeOf(decoded(row.querySelector('a').hash));
    copyComment('implementation', subjectOf(element));
  } else if (subject?.quote) copyComment('implementation');
}

const keys = {
  j: () => step(1), k: () => step(-1), J: () => step(1, true), K: () => step(-1, true),
  '/': focusFilter, c: copyCurrent, '?': () => help.showModal(),
};
const afterG = { o: 'overview', r: 'requirements', s: 'sources', p: 'problems' };

addEventListener('keydown', event => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || help.open) return;
  if (key === 'Escape' && !panel.hidden) return leavePanel();
  if (!keysOn.checked || target.closest('input, select, textarea, [contenteditable]')) return;
  const view = Date.now() < waiting && afterG[key];
  waiting = key === 'g' ? Date.now() + 1500 : 0;
  if (!view && !keys[key]) return;
  event.preventDefault();
  if (view) go('#' + view);
  else keys[key]();
});
