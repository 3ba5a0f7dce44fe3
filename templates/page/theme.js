const THEMES = ['system', 'light', 'dark'], themeButton = $('theme');
let theme = Math.max(0, THEMES.indexOf(stored('theme')));

function applyTheme() {
  root.dataset.theme = THEMES[theme];
  themeButton.textContent = `Theme: ${THEMES[theme]}`;
}

themeButton.hidden = false;
applyTheme();
on(themeButton, 'click', () => {
  theme = (theme + 1) % 3;
  stored('theme', THEMES[theme]);
  applyTheme();
});
