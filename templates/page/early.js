document.documentElement.classList.add('js');
try {
  const theme = localStorage.getItem('duvet.theme');
  if (theme && theme !== 'system') document.documentElement.dataset.theme = theme;
} catch {}
