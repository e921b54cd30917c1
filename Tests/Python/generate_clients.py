"""Generates clients from the gateway's OpenAPI document with two generators, and compares their operations with the document's.

    generate_clients.py openapi.json [--all]

A generator leaves out an operation that it cannot read, says so among much else, and ends with success. The second generator takes most
of the time, and runs only with --all.
"""
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
# Its arguments, and what stands in a generated file for each operation: its method and its path.
GENERATORS = {
    "openapi-python-client": (
        lambda document, folder: ["generate", "--path", document, "--output-path", folder, "--config", configuration(folder)],
        re.compile(r'"method": "(\w+)",\s*"url": "([^"]+)"'),
    ),
    "openapi-generator-cli": (
        lambda document, folder: ["generate", "-i", document, "-g", "python", "-o", folder],
        re.compile(r"method='(\w+)',\s*resource_path='([^']+)'"),
    ),
}


def configuration(folder):
    """Without it this generator leaves out the operations whose body is a plain text: API.md says so."""
    path = folder.with_name("configuration.json")
    path.write_text('{"content_type_overrides": {"text/plain": "application/octet-stream"}}')
    return path


def operation(method, path):
    """The generators rename parameters."""
    return f"{method.upper()} {re.sub(r'{[^}]*}', '{}', path)}"


def generated(name, document):
    arguments, pattern = GENERATORS[name]
    with tempfile.TemporaryDirectory() as folder:
        client = pathlib.Path(folder, "client")
        program = pathlib.Path(sys.executable).with_name(name)
        done = subprocess.run([program, *arguments(document, client)], cwd=folder, capture_output=True, text=True)
        found = {operation(*match) for file in client.rglob("*.py") for match in pattern.findall(file.read_text())}
    return found, done.stdout + done.stderr if done.returncode or not found else ""


def main():
    document = pathlib.Path(sys.argv[1]).resolve()
    paths = json.loads(document.read_text())["paths"]
    expected = {operation(method, path) for path, methods in paths.items() for method in methods if method in METHODS}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        names = list(GENERATORS)[:2 if "--all" in sys.argv else 1]
        for name, (found, trouble) in zip(names, pool.map(lambda name: generated(name, document), names)):
            if trouble or found != expected:
                sys.exit(f"{name}: missing {sorted(expected - found)}, invented {sorted(found - expected)}\n{trouble}")
            print(f"{name}: {len(found)} operations")


if __name__ == "__main__":
    main()
