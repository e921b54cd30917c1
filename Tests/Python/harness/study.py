"""Classes and study sessions of a test, by the routes that apps use."""

from .person import Person

# The middle of the campus that comes with the product, and places some hundred metres from it.
CAMPUS = {"latitude": 45.0, "longitude": -30.0}
NORTH, SOUTH, WEST = {"latitude": 45.0032, "longitude": -30.0}, {"latitude": 44.9968, "longitude": -30.0}, {"latitude": 45.0, "longitude": -30.006}
# Two kilometres away.
AWAY = {"latitude": 45.02, "longitude": -30.0}
ACCURACY = 10


def student(product, name):
    """A student with an account that the operator has made: an address may register a hundred within an hour."""
    return Person(product, account=product.new_account(name, "student"))


def new_professor(product, name="prof"):
    """A person whose account has the professor's mark."""
    person = student(product, name)
    product.api("PUT", f"/account/{person.account}", {"professor": True})
    return person.renew()


def befriend(one, *others):
    """Makes `one` a friend of each of the others."""
    for other in others:
        one.ask(other)
        other.ask(one)


class Class:
    """A class with its professor. The other arguments are fields of the class."""

    def __init__(self, product, name="Algorithms", professor=None, **more):
        self.product, self.professor = product, professor or new_professor(product)
        self.name = product.unique(name)
        document = {"name": self.name, "identification_key": self.name.replace(" ", "-"), **more}
        self.identification_key = document["identification_key"]
        self.id = self.professor.request("POST", "/class", document)["id"]
        self.path = f"/classes/{self.id}"
        self.codes = {}

    def key(self, role="student"):
        """The code of a key for a role. It is made when a test first needs it."""
        if role not in self.codes:
            self.codes[role] = self.professor.request("POST", f"{self.path}/keys", {"role": role})["code"]
        return self.codes[role]

    def add(self, *people, role="student"):
        """Lets people join with the key of a role."""
        for person in people:
            person.request("POST", "/user/classes", {"key": self.key(role)})
        return self

    def new_member(self, name="carla", role="student"):
        """A new person of the class."""
        person = student(self.product, name)
        self.add(person, role=role)
        return person

    def start(self, host, *topics, place=CAMPUS, name="Library, second floor", minutes=60, sponsored=False, **more):
        """Starts a session. One that is not sponsored needs a host who is there."""
        draft = {"topics": list(topics or ["Trees"]), "place": {**place, "name": name}, "minutes": minutes, **more}
        draft |= {"sponsored": True, "attends": False} if sponsored else {"position": {**place, "accuracy": ACCURACY}}
        return Session(self, host.request("POST", f"{self.path}/sessions", draft)["session"]["id"])

    def open(self, person=None):
        """The ids of the open sessions."""
        return [each["id"] for each in (person or self.professor).request("GET", f"{self.path}/sessions")["sessions"]]

    def past(self):
        """The sessions that have ended, as the professor sees them."""
        return self.professor.request("GET", f"{self.path}/sessions/past")["sessions"]


class Session:
    def __init__(self, group, id):
        self.group, self.id = group, id
        self.path = f"{group.path}/sessions/{id}"
        # Its place in the app.
        self.link = f"#study/session/{group.id}/{id}"

    def read(self, person=None):
        return (person or self.group.professor).request("GET", self.path)["session"]

    def join(self, *people, leave=False):
        for person in people:
            person.request("POST", self.path, {"leave": leave})
        return self

    def leave(self, person):
        """By its host it ends."""
        person.request("DELETE", self.path)

    def post(self, person, text):
        return person.request("POST", f"{self.path}/posts", {"text": text})["id"]

    def remove(self, person, post):
        person.request("DELETE", f"{self.path}/posts/{post}")

    def texts(self, person):
        """The texts of the posts, the newest first."""
        return [post["text"] for post in person.request("GET", f"{self.path}/posts")["posts"]]
