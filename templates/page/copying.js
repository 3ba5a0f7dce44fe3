const choice = inPanel('.style select'), reason = () => inPanel('.reason').value.trim();
choice.append(...styles.map(({ label }) => new Option(label)));
inPanel('.style').hidden = styles.length < 2;
choice.selectedIndex = Math.max(0, styles.findIndex(({ label }) => label === stored('style')));
on(choice, 'change', () => stored('style', choice.value));

function copyComment(kind, of = subject) {
  const style = styles[choice.selectedIndex], text = style && commentOf(style, kind, of, reason());
  if (text) copy(text, `comment, ${kind}`);
  else say('This text does not fit the comment style.');
}

const doings = {
  close: leavePanel,
  target: () => copy(subject.target, 'target'),
  comment: kind => copyComment(kind),
  toml: kind => copy(tomlOf(kind, subject, reason()), `TOML, ${kind}`),
  previous: () => step(-1),
  next: () => step(1),
  gap: () => step(1, GAP),
};
on(panel, 'click', ({ target: { dataset } }) => doings[dataset.do]?.(dataset.kind));
