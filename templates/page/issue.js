function newIssue({ quote, target, row, article }) {
  const query = Object.entries({
    title: `${target.split('#').at(-1)}: ${quote.slice(0, 80)}`,
    body: `> ${quote.slice(0, 4000)}\n\n${target}\n`,
    labels: ['compliance', `compliance:${row.level}`, `spec:${heading(article).textContent}`, ...row.noted('feature')].join(','),
  }).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `${issueLink.replace(/\/+$/, '')}/new?${query.join('&')}`;
}
