const styleSelect = part('.style select');
styleSelect.append(...styles.map(({ label }) => new Option(label)));
part('.style').hidden = styles.length < 2;
if (styles.some(({ label }) => label === stored('style'))) styleSelect.value = stored('style');
styleSelect.addEventListener('change', () => store('style', styleSelect.value));

const reason = () => part('.reason').value.trim();

function copyComment(kind, of = subject) {
  const style = styles[Math.max(0, styleSelect.selectedIndex)];
  const text = style && commentOf(style, kind, of, reason());
  if (text) copy(text, `comment, ${kind}`);
  else say('These words cannot stand in such a comment.');
}

const doings = {
  close: leavePanel,
  target: () => copy(subject.target, 'target'),
  place: button => {
    const place = button.parentElement.querySelector('a, code').textContent;
    copy(place, place);
  },
  comment: button => copyComment(button.dataset.kind),
  toml: button => copy(tomlOf(button.dataset.kind, subject, reason()), `TOML, ${button.dataset.kind}`),
  previous: () => step(-1),
  next: () => step(1),
  gap: () => step(1, true),
};
panel.addEventListener('click', event => {
  const button = event.target.closest('[data-do]');
  if (button) doings[button.dataset.do](button);
});
