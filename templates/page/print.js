addEventListener('beforeprint', () => {
  for (const held of all(`:is(${SUBJECT}) > noscript`, current)) {
    const box = document.createElement('div');
    box.className = 'refs';
    box.innerHTML = held.textContent;
    held.before(box);
  }
});
addEventListener('afterprint', () => {
  for (const box of all('div.refs', current)) box.remove();
});
