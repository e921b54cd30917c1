"""A subject of the cube that a test has added."""


class Subject:
    def __init__(self, channel, area, document):
        self.channel, self.area, self.document = channel, area, document
        self.name = document["name"]
        self.topic_key = document["topic_key"]
        self.distribution = document["opt"]["distribution"]
        # As the API's paths name it.
        self.path = f"{channel['_id']}/{area['id']}/{document['id']}"
