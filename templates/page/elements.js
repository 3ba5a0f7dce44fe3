const root = document.documentElement, title = document.title;
const $ = id => document.getElementById(id);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const make = (tag, given) => Object.assign(document.createElement(tag), given);
const button = (textContent, onclick, ariaLabel = null) => make('button', { type: 'button', textContent, onclick, ariaLabel });
const on = (target, kinds, work, options) => kinds.split(' ').forEach(kind => target.addEventListener(kind, work, options));
const focus = element => element.focus({ preventScroll: true });
const { styles, issueLink } = JSON.parse($('settings').textContent);
const SUBJECT = 'li[id], p.cited', GAP = ':is(.s0, .s1, .s2, .s3, .s4)';

// Browsers may forbid storage for a report that is opened from a file.
function stored(key, value) {
  try {
    return value === undefined ? localStorage.getItem('duvet.' + key) : localStorage.setItem('duvet.' + key, value);
  } catch { return null; }
}

const entities = { amp: '&', lt: '<', gt: '>', quot: '"', '#34': '"', '#39': "'" };
const plain = html => html.replace(/<[^>]*>/g, ' ').replace(/&(#?\w+);/g, (whole, name) => entities[name] ?? whole);

function decoded(hash) {
  try { return decodeURIComponent(hash.slice(1)); } catch { return hash.slice(1); }
}
const linkTo = anchor => '#' + encodeURI(anchor).replaceAll('#', '%23');

function say(text) {
  const line = panel.hidden ? $('notice') : inPanel('[role=status]');
  line.textContent = text;
  line.hidden = !text;
  return line;
}
