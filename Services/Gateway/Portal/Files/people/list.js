// A list of students in CSV, as `msi account import` reads it.

const columns = ["account", "oidc", "display_name", "professor"];
const required = columns.slice(0, 2);
/** The most bytes of a list: some 400,000 rows. */
const most = 32 * 1_024 * 1_024;

/** What is wrong with a list: `key` of a text, with its `values`. */
export class ListError extends Error {
  constructor(key, values = {}) {
    super(key);
    this.key = `people.list.${key}`;
    this.values = values;
  }
}

/** The rows of a file, as `POST /account/import` takes them. Throws `ListError`. */
export async function rowsOf(file) {
  if (file.size > most) throw new ListError("size");
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new ListError("encoding");
  }
  const [head, ...lines] = cellsOf(text);
  const names = withoutEmptyEnd(head?.cells ?? [], 0).map((name) => name.trim().toLowerCase());
  for (const name of names) if (!columns.includes(name)) throw new ListError("column", { name });
  if (new Set(names).size < names.length) throw new ListError("columns");
  for (const name of required) if (!names.includes(name)) throw new ListError("missing", { name });
  const seen = new Map();
  const rows = lines.map(({ line, cells }) => rowOf(line, cells, names, seen));
  if (!rows.length) throw new ListError("empty");
  return rows;
}

function rowOf(line, all, names, seen) {
  const cells = withoutEmptyEnd(all, names.length);
  if (cells.length !== names.length) throw new ListError("cells", { line });
  const cell = (name) => (cells[names.indexOf(name)] ?? "").trim();
  const [account, oidc, name, professor] = columns.map(cell);
  if (!/^(?!\.{1,2}$)[A-Za-z0-9._@-]{1,64}$/.test(account)) throw new ListError("account", { line });
  if (!oidc) throw new ListError("oidc", { line });
  const mark = { "": undefined, true: true, false: false };
  if (!Object.hasOwn(mark, professor.toLowerCase())) throw new ListError("professor", { line });
  for (const key of [`account ${account.toLowerCase()}`, `oidc ${oidc}`]) {
    if (seen.has(key)) throw new ListError("twice", { line, first: seen.get(key) });
    seen.set(key, line);
  }
  return { account, oidc, ...(name ? { display_name: name } : {}),
    ...(professor ? { professor: mark[professor.toLowerCase()] } : {}) };
}

/** Without empty cells at the end, down to a number of cells. */
const withoutEmptyEnd = (cells, count) =>
  cells.slice(0, Math.max(count, cells.findLastIndex((cell) => cell.trim()) + 1));

/** The cells of each line that is not empty (RFC 4180). What is between them is what the header has. */
function cellsOf(text) {
  const header = text.slice(0, text.search(/[\r\n]|$/));
  const separator = [",", ";", "\t"].find((each) => header.includes(each)) ?? ",";
  // A cell in quotation marks, which may have spaces around them, or one without; then what ends it.
  const end = `${separator}\\r\\n`;
  const pattern = new RegExp(
    `(?: *"([^"]*(?:""[^"]*)*)" *|([^"${end}][^${end}]*|))(${separator}|\\r\\n|\\n|\\r|$)`, "y");
  const lines = [];
  let cells = [];
  let [line, start] = [1, 1];
  while (pattern.lastIndex < text.length || cells.length) {
    const found = pattern.exec(text);
    if (!found) throw new ListError("quotes", { line });
    const [all, quoted, plain, after] = found;
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    line += all.match(/\r\n|\n|\r/g)?.length ?? 0;
    if (after === separator) continue;
    if (cells.some((each) => each.trim())) lines.push({ line: start, cells });
    [cells, start] = [[], line];
    // At the end of the text the pattern would find an empty cell again.
    if (after === "") break;
  }
  return lines;
}
