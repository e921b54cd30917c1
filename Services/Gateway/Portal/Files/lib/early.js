// Sets the language, its direction and the chosen colours before the page is painted. A module would run too late.
(() => {
  const root = document.documentElement;
  let settings = {};
  try { settings = JSON.parse(localStorage.getItem("msi.settings")) ??
    {}; } catch { /* a blocked or spoilt storage has no settings */ }
  const languages = ["en", "ar"];
  const wanted = [settings.language, ...navigator.languages.map((language) => language.split("-")[0])];
  root.lang = wanted.find((language) => languages.includes(language)) ?? "en";
  root.dir = root.lang === "ar" ? "rtl" : "ltr";
  // The texts are wanted as soon as the first module runs.
  for (const part of ["common", ...(root.dataset.text ?? "").split(" ").filter(Boolean)]) {
    const link = document.createElement("link");
    const href = new URL(`../text/${root.lang}/${part}.json`, document.currentScript.src);
    document.head.append(Object.assign(link, { rel: "preload", as: "fetch", crossOrigin: "anonymous", href }));
  }
  if (settings.theme === "light" || settings.theme === "dark") root.dataset.theme = settings.theme;
})();
