package import Schemas
package import Time

extension ServiceEntry {
    /// The canary, which an operator sets up: it needs a topic, a token and a phone of its own.
    package static let canary = ServiceEntry(
        "canary", "sends a message to a topic of its own every minute, and measures how long it takes to a phone.",
        title: "canary",
        settings: [Setting.canaryTopic.declaration, Setting.canaryInterval.declaration, Setting.canaryToken.declaration]
            + (Setting.canaryToken.declaration.file.map { [$0] } ?? [])
            + [Setting.gatewayURL.declaration, Setting.gatewayPort.declaration])
}

extension Setting where Value == TopicKey {
    package static let canaryTopic = Setting(
        "canary.topic",
        """
        The topic key of the canary's subject. The message log keeps the canary's messages to it for an hour, and enters them into no \
        audit log.
        """,
        expected: "a topic key: three ObjectIds joined by -"
    ) { TopicKey($0) }
}

extension Setting where Value == Seconds {
    package static let canaryInterval = seconds(
        "canary.interval", "The number of seconds between two messages of the canary.", in: 1...600, default: 60)
}

extension Setting where Value == String {
    package static let canaryAccount = Setting(
        "canary.account",
        "The account of the canary's token. What other accounts send to its subject is kept and audited like all messages.",
        expected: "the name of an account", default: "canary"
    ) { $0.isEmpty ? nil : $0 }

    package static let canaryToken = Setting(
        "canary.token", "The bearer token of the canary, with the rights send and read for its subject alone.",
        expected: "a bearer token", isSecret: true
    ) { text in text.isEmpty || !text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? nil : text }
}
