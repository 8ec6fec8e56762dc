// Sets the chosen theme before the first paint; the only script that is no module, so that nothing flashes.

try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch { /* storage is switched off: the system's theme it is */ }
