const words = text => text.split(/[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/).filter(Boolean);
const width = text => [...text].length;

function wrapped(start, text) {
  const lines = [];
  for (const word of words(text)) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length && width(longer) <= 80) lines.splice(-1, 1, longer);
    else lines.push(start + word);
  }
  return lines;
}

/*
##= man/spec/page.md#requirements-and-citations
##% The citation that a user copies from a requirement MUST cite this requirement, as a comment in the selected
##% style or as TOML.
*/
function commentOf({ meta, content, first, last, kind: usual }, kind, { target, quote }, reason) {
  const indent = first && ' ', start = `${indent}${meta} `;
  const lines = [start + (target.includes('=') ? `source=${target}` : target)];
  if (kind !== usual.replace('citation', 'implementation')) lines.push(`${start}type=${kind}`);
  if (kind === 'exception') lines.push(...wrapped(`${start}reason=`, reason));
  lines.push(...wrapped(`${indent}${content} `, quote));
  if (first ? lines.some(line => line.includes(last)) : lines.at(-1).endsWith('\\')) return null;
  return (first ? [first, ...lines, ` ${last}`] : lines).join('\n') + '\n';
}
