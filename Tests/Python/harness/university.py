"""The university's OpenID Connect provider, as a process: Tests/Python/oidc_provider.py."""

import pathlib
import re
import subprocess
import sys

import requests

SCRIPT = pathlib.Path(__file__).parents[1] / "oidc_provider.py"


class University:
    def __init__(self):
        self.process = subprocess.Popen([sys.executable, SCRIPT, "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.issuer = re.search(r"http:\S+", self.process.stdout.readline()).group()

    def settings(self, product):
        """The settings of a product where people of the role "staff" may sign in."""
        answer = requests.post(
            self.issuer + "/oauth2/clients", timeout=60,
            json={"redirect_uris": [product.url + "/session/oidc/callback"], "token_endpoint_auth_method": "client_secret_basic"}).json()
        return {
            "MSI_OIDC_ISSUER": self.issuer, "MSI_OIDC_CLIENT_ID": answer["client_id"], "MSI_OIDC_CLIENT_SECRET": answer["client_secret"],
            "MSI_OIDC_COMMUNICATORS": "staff", "MSI_OIDC_SUPER_USERS": "chief", "MSI_OIDC_NAME_CLAIM": "preferred_username"}

    def add(self, subject, name, *roles):
        requests.put(f"{self.issuer}/users/{subject}", json={"preferred_username": name, "roles": list(roles)}, timeout=60).raise_for_status()

    def sign_in(self, page, subject):
        """A person signs in on the provider's page, which is open."""
        page.get_by_placeholder("sub").fill(subject)
        page.get_by_role("button", name="Authorize").click()

    def stop(self):
        self.process.stdin.close()
        self.process.wait(10)
