// What is known of a requirement, or of cited text, from its place in its article.
function subjectOf(element) {
  const part = element.closest('.part'), article = part.closest('.view');
  const section = part.dataset.id ?? part.id.slice(article.id.length + 1);
  const row = rowAt(element.id);
  return {
    element, part, article, row,
    badge: element.querySelector('a').textContent,
    level: row ? row.level : '',
    quote: row ? row.text : '',
    target: article.dataset.locator + (section && `#${section}`),
  };
}

const textOf = element => element.closest('.part').querySelector(`pre a[href="${CSS.escape(linkTo(element.id))}"]`);

const fragmentsOf = (part, id) => all(`pre [data-r~="${CSS.escape(id)}"]`, part);

function ownerOf(mark) {
  const part = mark.closest('.part');
  if (mark.dataset.r) return `${part.id}/${mark.dataset.r.split(' ')[0]}`;
  if (mark.matches('.s8')) return `${part.id}/cited`;
  const before = all('pre a[href]', part).filter(link => link.compareDocumentPosition(mark) & Node.DOCUMENT_POSITION_FOLLOWING);
  return decoded(before.at(-1).hash);
}

function othersAt({ element, part }) {
  const id = element.id.slice(part.id.length + 1);
  const ids = fragmentsOf(part, id).flatMap(fragment => fragment.dataset.r.split(' '));
  return [...new Set(ids)].filter(other => other !== id).map(other => $(`${part.id}/${other}`)).filter(Boolean);
}
