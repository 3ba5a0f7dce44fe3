const help = $('help'), keysOn = $('keys-on');
let waiting = 0;
keysOn.checked = stored('keys') !== 'off';
on(keysOn, 'change', () => stored('keys', keysOn.checked ? 'on' : 'off'));
on(help.querySelector('.close'), 'click', () => help.close());
on($('keys'), 'click', () => help.showModal());
$('keys').hidden = false;

function focusFilter() {
  if (!lists[current.id]) go('#requirements');
  current.querySelector('[name=q]').focus();
}

function copyCurrent() {
  const link = document.activeElement.closest('tbody tr')?.querySelector('a[href*="/"]');
  const of = link && current.id === 'requirements' ? subjectOf(placeOf(decoded(link.hash)).element) : subject;
  if (of?.quote) copyComment('implementation', of);
}

const keys = {
  j: () => step(1), k: () => step(-1), J: () => step(1, GAP), K: () => step(-1, GAP),
  '/': focusFilter, c: copyCurrent, '?': () => help.showModal(),
};
const behindG = { o: 'overview', r: 'requirements', s: 'sources', p: 'problems' };

on(window, 'keydown', event => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey || help.open) return;
  if (key === 'Escape' && subject) return leavePanel();
  if (!keysOn.checked || target.closest('input, select, textarea')) return;
  const view = Date.now() < waiting && behindG[key], work = view ? () => go('#' + view) : keys[key];
  waiting = key === 'g' ? Date.now() + 1500 : 0;
  if (work) {
    event.preventDefault();
    work();
  }
});
