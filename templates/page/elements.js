const $ = id => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const { styles = [], issueLink } = JSON.parse($('settings').textContent);
const SUBJECT = 'li[id], p.cited';
const title = document.title;

const stored = key => {
  try { return localStorage.getItem('duvet.' + key); } catch { return null; }
};
const store = (key, value) => {
  try { localStorage.setItem('duvet.' + key, value); } catch {}
};

const entities = { amp: '&', lt: '<', gt: '>', quot: '"', '#34': '"', '#39': "'" };
const plain = html => html.replace(/<[^>]*>/g, ' ').replace(/&(#?\w+);/g, (whole, name) => entities[name] ?? whole);

const decoded = hash => {
  try { return decodeURIComponent(hash.slice(1)); } catch { return hash.slice(1); }
};
const linkTo = anchor => '#' + encodeURI(anchor).replaceAll('#', '%23');

function say(text) {
  const line = $('panel').hidden ? $('notice') : $('panel').querySelector('[role=status]');
  line.textContent = text;
  line.hidden = !text;
  return line;
}
