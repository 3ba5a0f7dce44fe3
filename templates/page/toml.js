const tomlString = text => JSON.stringify(text).replaceAll('\x7f', '\\u007f');

function tomlOf(kind, { target, quote }, reason) {
  const given = { target, quote, ...kind === 'exception' && { reason } };
  return `[[${kind}]]\n` + Object.entries(given).map(([key, value]) => `${key} = ${tomlString(value)}\n`).join('');
}
