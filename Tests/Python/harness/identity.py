"""The identity emulator of a product, which stands for Google, Firebase and Facebook (Services/IdentityEmulator/API.md)."""

import requests


class Identity:
    def __init__(self, product):
        self.url = product.identity_url

    def add(self, sub, name):
        """A person who can be chosen on the emulator's pages, by the name and the e-mail address."""
        claims = {"name": name, "email": f"{sub}@example.edu", "email_verified": True}
        response = requests.put(f"{self.url}/control/people/{sub}", json=claims, timeout=60)
        assert response.ok, f"{sub}: {response.status_code} {response.text}"
