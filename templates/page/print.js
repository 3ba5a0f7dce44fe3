on(window, 'beforeprint', () => {
  for (const held of all(`:is(${SUBJECT}) > noscript`, current)) held.before(make('div', { className: 'refs', innerHTML: held.textContent }));
});
on(window, 'afterprint', () => all('div.refs').forEach(box => box.remove()));
