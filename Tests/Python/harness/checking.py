"""What a script that a test runs has found."""


def check(what, condition, found=None):
    """Prints a line if it is so; otherwise the script ends with 1."""
    if not condition:
        raise SystemExit(f"not so: {what}: {found}")
    print("ok", what, flush=True)
