// Sets the language, its direction and the chosen colours before the page is painted. A module would run too late.
(() => {
  const root = document.documentElement;
  const chosen = (name) => {
    try { return localStorage.getItem(`msi.app.${name}`); } catch { return null; /* a blocked storage has no choice */ }
  };
  const languages = ["en", "ar"];
  const wanted = [chosen("language"), ...navigator.languages.map((language) => language.split("-")[0])];
  root.lang = wanted.find((language) => languages.includes(language)) ?? "en";
  root.dir = root.lang === "ar" ? "rtl" : "ltr";
  // The professor's page has none.
  const manifest = document.querySelector("link[rel=manifest]");
  if (manifest) manifest.href = manifest.href.replace(/language=\w+/, `language=${root.lang}`);
  // The texts are wanted as soon as the first module runs.
  for (const part of ["common", ...root.dataset.text.split(" ")]) {
    const link = document.createElement("link");
    const href = new URL(`../text/${root.lang}/${part}.json`, document.currentScript.src);
    document.head.append(Object.assign(link, { rel: "preload", as: "fetch", crossOrigin: "anonymous", href }));
  }
  const theme = chosen("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
})();
