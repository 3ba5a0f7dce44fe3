function newIssue({ level, quote, target, row, article }) {
  const labels = ['compliance', `compliance:${level}`, `spec:${heading(article).textContent}`, ...row.feature];
  const given = {
    title: `${target.split('#').at(-1)}: ${quote.slice(0, 80)}`,
    body: `${quote.slice(0, 4000).replace(/^/gm, '> ')}\n\n${target}\n`,
    labels: labels.join(','),
  };
  const query = Object.entries(given).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&');
  return `${issueLink.replace(/\/+$/, '')}/new?${query}`;
}
