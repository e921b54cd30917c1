"""Tests the rules: a small tree breaks none, and each change to it breaks the one that it is made for."""
import subprocess
import tempfile
from pathlib import Path

import counts
from tree import Finding, Tree

CODE = "import Base\n" + "\n" * 20
PAGES = "Services/Gateway/Portal/Files/"
FILES = {
    "README.md": "# Hub\n\n```bash\ndeploy/run   # runs\ndeploy/test  # tests\n```\n\n[bus](Shared/Base/BUS.md#the-bus-1), [b](#hub)\n",
    ".ci/run": "exec deploy/test\n",
    "deploy/run": "",
    "deploy/test": "",
    "Package.swift": """
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")  // it's "quoted"
let package = Package(
    targets: [
        .target(name: "Base", path: "Shared/Base", exclude: ["BUS.md"]),
        .target(name: "MobileApp", dependencies: ["Base", grdb], path: "Shared/MobileApp"),
        .target(name: "Bus", dependencies: ["Base"], path: "Shared/Bus"),
        .executableTarget(
            name: "Gateway", dependencies: ["Base"],
            path: "Services/Gateway"),
        .executableTarget(name: "Cube", dependencies: ["Base"], path: "Services/Cube"),
        .testTarget(name: "BaseTests", dependencies: ["Base"], path: "Tests/BaseTests"),
        .systemLibrary(name: "CZlib", path: "Shared/CZlib"),
        .target(name: "Pages", path: "Shared/Pages", resources: [.copy("Files")]),
    ])
""",
    "Shared/Base/Value.swift": "import FoundationEssentials\n" + "\n" * 20,
    "Shared/Base/BUS.md": "# A `bus`\n## The bus\n```\n[no](link)\n```\n## The bus\n",
    "Shared/MobileApp/App.swift": CODE + "package import struct GRDB.Row\n",
    "Shared/Bus/Bus.swift": CODE,
    "Shared/CZlib/shim.h": "",
    "Services/Gateway/Gateway.swift": CODE + 'route("/api")\nlet script = """\nimport sys\n"""\n',
    "Services/Cube/Cube.swift": CODE,
    "Tests/BaseTests/ValueTests.swift": CODE.replace("import", "@testable import"),
    "Shared/Pages/Files/lib/dom.js": "",
    "Shared/Pages/Files/page.html": '<html>\n<script src="@files@/lib/dom.js"></script><script src="@files@/@module@"></script>',
    PAGES + "pages.json": '{\n"send": {"module": "send/send.js", "texts": ["send"], "styles": []}}',
    PAGES + "send/send.js": 'import { h } from "../lib/dom.js";\nconst link = "/portal/send/";\nh("a", { href: "/api" });\n',
    PAGES + "text/en/send.json": "{}",
}
EXECUTABLES = [".ci/run", "deploy/run", "deploy/test"]


def added(path, text):
    return {path: FILES[path] + text}


def replaced(path, old, new):
    assert old in FILES[path], f"{path} has no {old}"
    return {path: FILES[path].replace(old, new)}


def dependencies(target, new):
    return replaced("Package.swift", f'name: "{target}", dependencies: ["Base"]', f'name: "{target}", dependencies: [{new}]')


BUS, DOM, SEND = "Shared/Bus/Bus.swift", "Shared/Pages/Files/lib/dom.js", PAGES + "send/send.js"
# Changes to the files, and how a finding of that tree begins.
CASES = [
    ({"notes.txt": ""}, "notes.txt:1: notes.txt is at the top level"),
    ({"Package.resolved": ""}, "Package.resolved:1: a generated file"),
    ({"Tests/x/__pycache__/x.pyc": ""}, "Tests/x/__pycache__/x.pyc:1: a generated file"),
    ({"deploy/test": None}, "deploy/test:1: is missing"),
    ({".ci/run": "# deploy/test\n"}, ".ci/run:1: does not call deploy/test"),
    (replaced("README.md", "deploy/test", "deploy/try"), "README.md:1: does not open"),
    ({BUS: "import Base\n" * 351}, f"{BUS}:1: 351 lines"),
    ({BUS: "import Base\n" * 14}, f"{BUS}:1: 14 lines"),
    (added(SEND, "x" * 121), f"{SEND}:4: 121 columns"),
    (added(BUS, "// TODO: more\n"), f"{BUS}:22: TODO"),
    (added(BUS, "/// Not implemented.\n"), f"{BUS}:22: Not implemented"),
    (added(SEND, "<<<<<<< HEAD\n"), f"{SEND}:4: <<<<<<<"),
    (added(BUS, "try! open()\n"), f"{BUS}:22: try!"),
    (added(BUS, "value as! Int\n"), f"{BUS}:22: as!"),
    (added(BUS, 'fatalError("")\n'), f"{BUS}:22: fatalError("),
    (added("Tests/BaseTests/ValueTests.swift", '@Test(.disabled("slow"))\n'), "Tests/BaseTests/ValueTests.swift:22: .disabled("),
    (added("Shared/Base/BUS.md", "in /home/bob/hub\n"), "Shared/Base/BUS.md:7: /home/: a path of one machine"),
    (added("Shared/Base/BUS.md", "The Former value\n"), 'Shared/Base/BUS.md:7: the word "former"'),
    (added(BUS, "/// a thread of its\n/// own\n"), f'{BUS}:22: the word "of its own"'),
    (added(BUS, "struct Lane {}\n"), f"{BUS}:22: the name Lane"),
    (added(BUS, "let longestStop = 1\n"), f"{BUS}:22: the name longestStop"),
    ({"Package.swift": None}, "Package.swift:1: is missing"),
    (dependencies("Bus", '.product(name: "Logging")'), "Package.swift:1: Tests/Tidy/manifest.py cannot read"),
    (replaced("Package.swift", "grdb]", '"GRDB"]'), "Package.swift:2: no target depends on GRDB"),
    (added(BUS, "@preconcurrency package import Logging\n"), f"{BUS}:22: imports Logging"),
    (dependencies("Bus", '"Base", "MobileApp"'), "Package.swift:7: Bus declares MobileApp"),
    ({"Tests/Old/Old.swift": CODE}, "Tests/Old/Old.swift:1: belongs to no target"),
    (dependencies("Cube", '"Base", "Gateway"'), "Package.swift:11: Cube depends on Gateway"),
    (replaced("Package.swift", "grdb]", 'grdb, "Bus"]'), "Package.swift:6: MobileApp depends on Bus"),
    ({"Tests/OldTests/x.py": ""}, "Tests/OldTests:1: is no target"),
    ({"Services/Old/x.c": ""}, "Services/Old:1: is no target"),
    (replaced("Package.swift", "Tests/BaseTests", "Tests/Unit"), "Package.swift:12: the tests BaseTests are not in"),
    (added("README.md", "[x](Shared/None.md)\n"), "README.md:9: a link to Shared/None.md"),
    (added("README.md", "[x](Shared/Base/BUS.md#the-bus-2)\n"), "README.md:9: a link to Shared/Base/BUS.md#the-bus-2"),
    ({SEND: None}, f"{PAGES}pages.json:2: send/send.js is not served"),
    ({DOM: None}, f"{SEND}:1: lib/dom.js is not served"),
    ({DOM: None}, "Shared/Pages/Files/page.html:2: lib/dom.js is not served"),
    ({PAGES + "pages.json": "{}"}, f"{SEND}:2: /portal/send/ is not served"),
    ({PAGES + "text/ar/common.json": ""}, f"{PAGES}pages.json:2: text/ar/send.json is not served"),
    (replaced("Services/Gateway/Gateway.swift", "/api", "/v2"), f"{SEND}:3: /api is not served"),
]


def failures(findings):
    """What the rules do wrong. `findings` applies all rules to a tree."""
    tree = Tree(encoded(FILES), EXECUTABLES)
    wrong = [f"self-test: a finding in a tidy tree: {finding}" for finding in findings(tree)]
    for changes, beginning in CASES:
        found = [str(finding) for finding in findings(tree.with_files(encoded(changes)))]
        if not any(finding.startswith(beginning) for finding in found):
            wrong.append(f"self-test: no finding {beginning!r}, but {found}")
    if "deploy/run:1: is not executable" not in map(str, findings(Tree(encoded(FILES)))):
        wrong.append("self-test: no finding of a script that is not executable")
    return wrong + listing() + falling_counts()


def encoded(files):
    return {path: text if text is None else text.encode() for path, text in files.items()}


def listing():
    """The tree has new files and no ignored ones, with git and in a copy without git's folder."""
    wrong = []
    with tempfile.TemporaryDirectory() as top:
        for path in ["kept/new.md", "build/out.md", "kept/Package.resolved"]:
            Path(top, path).parent.mkdir(exist_ok=True)
            Path(top, path).touch()
        Path(top, ".gitignore").write_text("build/\nPackage.resolved\n")
        for kind in ["copied", "git's"]:
            if kind == "git's":
                subprocess.run(["git", "init", "--quiet", top], check=True)
            if Tree.at(top).names() != [".gitignore", "kept/new.md"]:
                wrong.append(f"self-test: the files of a {kind} tree are {Tree.at(top).names()}")
    return wrong


def falling_counts():
    found = [Finding("a.md", 1, "x", "word: x"), Finding("b.md", 2, "x", "word: x"), Finding("b.md", 3, "other")]
    expected = ["b.md:2: x", "a.md:1: x", "word: x: 2 places, and Tests/Tidy/counts.json allows 1"]
    is_right = (
        list(counts.exceeded(found, {"word: x": 1}, ["b.md"])) == expected
        and not list(counts.exceeded(found, {"word: x": 2}))
        and counts.lowered(found, {"word: x": 3, "word: y": 1}) == {"word: x": 2}
        and counts.lowered(found, {"word: x": 1}) == {"word: x": 1})
    return [] if is_right else ["self-test: the numbers of places do not only fall"]
