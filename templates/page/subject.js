const sectionOf = (part, view) => part.dataset.id ?? part.id.slice(view.id.length + 1);
const ownersOf = mark => mark.dataset.r?.split(' ') ?? (mark.matches('.s8') ? ['cited'] : []);

// Collects the data of a requirement, or of cited text, from its place in the article.
function subjectOf(element) {
  const part = element.closest('.part'), article = part.closest('.view'), section = sectionOf(part, article);
  const id = element.id.slice(part.id.length + 1), row = rowAt(element.id), link = element.querySelector('a');
  const text = part.querySelector(`pre [href="${CSS.escape(linkTo(element.id))}"]`);
  return {
    element, part, article, id, row, text, link,
    shown: text ?? element,
    quote: row?.text ?? '',
    target: article.dataset.locator + (section && '#' + section),
  };
}

function ownerOf(mark) {
  const part = mark.closest('.part'), [id] = ownersOf(mark);
  const fragments = all('pre :is(a, mark)', part);
  return id ? `${part.id}/${id}` : decoded(fragments.slice(0, fragments.indexOf(mark)).findLast(one => one.href).hash);
}

// Returns all parts of the text that belong to the subject.
function fragmentsIn({ part, id }) {
  let owner;
  return all('pre :is(a, mark)', part).filter(one => {
    if (one.href) owner = decoded(one.hash).slice(part.id.length + 1);
    const owners = ownersOf(one);
    return owners.length ? owners.includes(id) : owner === id;
  });
}

function othersAt({ part, id }) {
  const ids = new Set(fragmentsIn({ part, id }).flatMap(ownersOf));
  ids.delete(id);
  return [...ids].map(other => $(`${part.id}/${other}`)).filter(Boolean);
}
