async function copy(text, what) {
  for (const old of all('.hand')) old.remove();
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copiedBySelection(text)) return say('Your browser blocked copying. Copy the selected text.');
  }
  say(`Copied: ${what}.`);
}

function copiedBySelection(value) {
  const before = document.activeElement, area = make('textarea', { className: 'hand', ariaLabel: 'Copy text', readOnly: true, value });
  say(' ').after(area);
  area.select();
  if (!document.execCommand('copy')) return;
  area.remove();
  focus(before);
  return true;
}
