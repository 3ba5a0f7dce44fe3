const words = text => text.split(/[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/).filter(Boolean);
const width = text => [...text].length;

function wrapped(text, room) {
  const lines = [];
  for (const word of words(text)) {
    const last = lines.at(-1);
    if (last !== undefined && width(last) + 1 + width(word) <= room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function commentOf(style, kind, { target, quote }, reason) {
  const indent = style.first && ' ', own = style.kind === 'citation' ? 'implementation' : style.kind;
  const meta = `${indent}${style.meta} `, content = `${indent}${style.content} `;
  const fields = [target.includes('=') ? `source=${target}` : target];
  if (kind !== own) fields.push(`type=${kind}`);
  if (kind === 'exception') fields.push(...wrapped(reason, 73 - width(meta)).map(line => `reason=${line}`));
  const lines = [...fields.map(line => meta + line), ...wrapped(quote, 80 - width(content)).map(line => content + line)];
  if (style.first ? lines.some(line => line.includes(style.last)) : lines.at(-1).endsWith('\\')) return null;
  return (style.first ? [style.first, ...lines, ` ${style.last}`] : lines).join('\n') + '\n';
}
