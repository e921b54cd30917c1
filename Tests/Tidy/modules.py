"""Package.swift and the imports agree, and dependencies point one way."""
import re

import manifest
from tree import Finding, line

IMPORT = re.compile(
    r"^[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+)*(?:(?:public|package|internal|private|fileprivate)[ \t]+)?import[ \t]+"
    r"(?:(?:struct|class|enum|protocol|typealias|func|let|var)[ \t]+)?(\w+)(?:\.\w+)*[ \t]*(?://.*)?$", re.M)
# Modules of the toolchain and the system.
SYSTEM = {"Darwin", "Dispatch", "Foundation", "FoundationEssentials", "FoundationXML", "Glibc", "Musl", "Swift", "Synchronization", "Testing"}
# The app's modules run on phones.
APP = "MobileApp"
MODULES_OF_THE_APP = {"Base", "DequeModule", "GRDB", "Schemas"}
# These tests drive the built executables, and are named for no target.
FOLDERS_OF_TESTS = {"SystemTests": "Tests/System"}


def imports(text):
    """The imported modules with the places. A text over several lines may contain other languages."""
    code = re.sub(r'""".*?"""', lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.S)
    return [(match[1], line(code, match.start(1))) for match in IMPORT.finditer(code)]


def rules(tree):
    if "Package.swift" not in tree:
        yield Finding("Package.swift", 1, "is missing")
        return
    try:
        package = manifest.parse(tree.text("Package.swift"))
    except manifest.UnknownForm as unknown:
        yield Finding("Package.swift", 1, f"Tests/Tidy/manifest.py cannot read this form: {unknown}")
        return
    for product, where in package.unused.items():
        yield Finding("Package.swift", where, f"no target depends on {product}")
    for rule in [declared, direction, tests]:
        yield from rule(tree, package.targets)


def declared(tree, targets):
    """A target declares exactly the modules that it imports. C code includes headers, so it is not looked at."""
    used, has_swift = {target.name: set() for target in targets}, set()
    for path in tree.names(".swift"):
        folder = next((target for target in targets if path.startswith(target.path + "/")), None)
        if folder is None and path != "Package.swift":
            yield Finding(path, 1, "belongs to no target of Package.swift")
        if folder is None or not folder.has(path):
            continue
        has_swift.add(folder.name)
        for module, where in imports(tree.text(path)):
            used[folder.name].add(module)
            if module not in SYSTEM and module not in folder.dependencies:
                yield Finding(path, where, f"imports {module}, which the target {folder.name} does not declare in Package.swift")
    for target in targets:
        for module in target.dependencies:
            if target.name in has_swift and module not in used[target.name]:
                yield Finding("Package.swift", target.line, f"{target.name} declares {module}, which no file of it imports")


def direction(tree, targets):
    """Tests → services → shared modules. A service depends on no service, and the app on no server code."""
    by_name = {target.name: target for target in targets}
    for target in targets:
        for module in target.dependencies:
            to = by_name[module].path if module in by_name else "Shared/"
            if target.path.startswith(("Services/", "Shared/")) and not to.startswith("Shared/"):
                yield Finding("Package.swift", target.line, f"{target.name} depends on {module}, which is no shared module")
    pending, reached = [APP] if APP in by_name else [], set()
    while pending:
        for module in by_name[pending.pop()].dependencies:
            if module not in reached:
                reached.add(module)
                pending += [module] if module in by_name else []
    for module in sorted(reached - MODULES_OF_THE_APP):
        yield Finding("Package.swift", by_name[APP].line, f"{APP} depends on {module}, which is not for phones")


def tests(tree, targets):
    """Each folder Tests/*Tests is the test target of its name, and each folder of services and shared modules is a target."""
    paths = {target.path for target in targets}
    for folder in sorted(tree.folders):
        is_module = re.fullmatch(r"(Services|Shared)/[^/]+", folder)
        is_test = re.fullmatch(r"Tests/\w+Tests", folder)
        if (is_module or is_test) and folder not in paths:
            yield Finding(folder, 1, "is no target of Package.swift")
    for target in targets:
        if target.kind == "testTarget" and target.path != FOLDERS_OF_TESTS.get(target.name, f"Tests/{target.name}"):
            yield Finding("Package.swift", target.line, f"the tests {target.name} are not in Tests/{target.name}")


RULES = [rules]
