function tomlOf(kind, { target, quote }, reason) {
  const given = { target, quote, ...kind === 'exception' && { reason } };
  const lines = Object.entries(given).map(([key, value]) => `${key} = ${JSON.stringify(value).replace(/\x7f/g, '\\u007f')}\n`);
  return `[[${kind}]]\n${lines.join('')}`;
}
