const page = document.documentElement;
page.className = 'js';
try {
  page.dataset.theme = localStorage['duvet.theme'];
} catch {}
