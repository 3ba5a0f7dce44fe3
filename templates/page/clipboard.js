async function copy(text, what) {
  for (const old of all('.by-hand')) old.remove();
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copiedBySelection(text)) return say('The browser does not let the page copy: copy the selected text.');
  }
  say(`Copied: ${what}.`);
}

function copiedBySelection(text) {
  const before = document.activeElement, area = document.createElement('textarea');
  area.className = 'by-hand';
  area.ariaLabel = 'Text to copy';
  area.readOnly = true;
  area.value = text;
  say(' ').after(area);
  area.select();
  let done = false;
  try { done = document.execCommand('copy'); } catch {}
  if (done) {
    area.remove();
    before.focus({ preventScroll: true });
  }
  return done;
}
