function tomlOf(kind, { target, quote }, reason) {
  const given = { target, quote, ...kind === 'exception' && { reason } };
  const lines = Object.entries(given).map(([key, value]) => `${key} = ${JSON.stringify(value).replaceAll('\x7f', '\\u007f')}\n`);
  return `[[${kind}]]\n${lines.join('')}`;
}
