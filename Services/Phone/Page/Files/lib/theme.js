// Sets the chosen colours before the page is painted. A module would run too late.
(() => {
  let theme = null;
  try { theme = localStorage.getItem("msi.app.theme"); } catch { /* a blocked storage has no choice */ }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
