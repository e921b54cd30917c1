// What a person calls this device in the list of their devices.

const browsers = [["Edg", "Edge"], ["OPR", "Opera"], ["SamsungBrowser", "Samsung Internet"], ["Firefox", "Firefox"],
  ["Chrome", "Chrome"], ["Safari", "Safari"]];
const systems = [["Android", "Android"], ["iPhone", "iPhone"], ["iPad", "iPad"], ["CrOS", "ChromeOS"],
  ["Windows", "Windows"], ["Mac OS X", "macOS"], ["Linux", "Linux"]];

/** The name of a browser and its system, such as "Firefox on Linux", from what it says of itself; else "Browser". */
export function deviceName(agent = navigator.userAgent) {
  const nameIn = (list, end) => list.find(([mark]) => agent.includes(mark + end))?.[1];
  const [browser, system] = [nameIn(browsers, "/"), nameIn(systems, "")];
  return browser && system ? `${browser} on ${system}` : browser ?? system ?? "Browser";
}
