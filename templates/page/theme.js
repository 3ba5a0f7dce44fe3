const THEMES = ['system', 'light', 'dark'];
let theme = Math.max(0, THEMES.indexOf(stored('theme')));

function applyTheme() {
  const name = THEMES[theme], button = $('theme');
  if (theme) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  button.textContent = `Theme: ${name}`;
  button.ariaLabel = `Theme: ${name}`;
  button.hidden = false;
}

$('theme').addEventListener('click', () => {
  theme = (theme + 1) % THEMES.length;
  store('theme', THEMES[theme]);
  applyTheme();
});
applyTheme();
