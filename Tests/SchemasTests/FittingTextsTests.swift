import FCM
import Base
import Schemas
import Testing

@Suite("Messages that exceed FCM's limit")
struct FittingTextsTests {
    private func message(
        title: String = "T", desc: String = "D", _ text: String = "M", _ distribution: Distribution = .alert,
        image: String? = nil,
        target: RelayTarget = .topic
    ) throws -> RelayMessage {
        let draft = MessageContent(
            title: title, desc: desc, message: text, topicKey: try #require(TopicKey(DraftTests.topicKey)),
            distribution: distribution, options: image.map { DeliveryOptions(image: $0) })
        try draft.check()
        return RelayMessage(msiKey: ObjectID(), timestamp: 1_763_712_000_123, content: draft, target: target)
    }

    /// The data as it goes out.
    private func data(_ message: RelayMessage, _ limit: PayloadLimit = .topic) throws -> [String: String] {
        try sent(.data, message, limit).data
    }

    private func sent(_ component: Component, _ message: RelayMessage, _ limit: PayloadLimit = .topic) throws -> FCMMessage {
        var defaults = FCMDefaults()
        defaults.payloadLimit = limit
        return try FCMMessage(component, of: message, now: 0, defaults: defaults)
    }

    /// The size of a component, if no text is left out.
    private func bytes(_ component: Component, _ message: RelayMessage) -> Int {
        FCMPayload(component, of: message.content, at: message.timestamp).bytes
    }

    @Test(
        "Data of exactly the limit is whole; one byte more leaves out the message", arguments: [RelayTarget.topic, .token("t")])
    func boundary(target: RelayTarget) throws {
        let empty = try bytes(.data, message("M", .information, target: target)) - 1
        let room = 4_096 - empty
        // Letters of three bytes, and of one byte for the rest.
        let fits = String(repeating: "€", count: room / 3) + String(repeating: "m", count: room % 3)
        let whole = try message(fits, .information, target: target)
        #expect(bytes(.data, whole) == 4_096)
        #expect(try data(whole)["message"] == fits && data(whole)["omitted"] == nil)
        let larger = try message(fits + "m", .information, target: target)
        #expect(bytes(.data, larger) == 4_097)
        let sent = try data(larger)
        #expect(sent["message"] == nil && sent["omitted"] == "message" && sent["desc"] == "D" && sent["title"] == "T")
        #expect(Set(sent.keys) == ["msi_key", "topic_key", "dist", "title", "desc", "timestamp", "omitted"])
    }

    @Test("A message of any size is refused exactly if its smallest form is too large", arguments: [300, 400, 600, 1_000, 4_096])
    func smallest(limit: Int) throws {
        for length in [1, 60, 100, 140] {
            let title = String(repeating: "€", count: min(length, TextLimits.title.max))
            for distribution in [Distribution.alert, .information] {
                let message = try message(title: title, desc: "D", String(repeating: "m", count: 10 * length), distribution)
                let content = message.content
                let smallest = distribution.components.map {
                    FCMPayload($0, of: content, at: message.timestamp, within: limit).bytes
                }
                let violation = PayloadLimit(bytes: limit).violation(by: content, at: message.timestamp)
                #expect((violation != nil) == smallest.contains { $0 > limit }, "\(distribution), \(length) of \(limit)")
            }
        }
    }

    @Test("1,500 characters of Arabic, Chinese or emoji go out without the message", arguments: ["م", "校", "😀"])
    func languages(letter: String) throws {
        let text = String(repeating: letter, count: 1_500)
        let alert = try message(text)
        #expect(PayloadLimit.topic.violation(by: alert) == nil)
        let sent = try data(alert)
        let isTooLarge = bytes(.data, alert) > 4_096
        #expect(sent["omitted"] == (isTooLarge ? "message" : nil) && sent["desc"] == "D")
        #expect(isTooLarge || letter == "م")
    }

    @Test("What is still too large leaves out desc, too; the largest message fits FCM's limit")
    func largest() throws {
        let four = "😀"
        let largest = try message(
            title: String(repeating: four, count: 500), desc: String(repeating: four, count: 500),
            String(repeating: four, count: 1_500), image: "https://cdn.test/" + String(repeating: "i", count: 983))
        #expect(PayloadLimit.topic.violation(by: largest) == nil)
        let data = try data(largest)
        #expect(data["omitted"] == "message,desc" && data["message"] == nil && data["desc"] == nil)
        #expect(data["title"] == largest.content.title)
        for component in Component.allCases {
            #expect(try sent(component, largest).sentBytes <= 4_096)
        }
    }

    @Test(
        "A pop-up's body is cut between characters, and says so; the rest of the pop-up stays",
        arguments: ["م", "校", "😀", "👩‍👩‍👧‍👦", "e\u{301}\u{323}", "🇩🇪"])
    func body(letter: String) throws {
        let count = 500 / letter.unicodeScalars.count
        let body = String(repeating: letter, count: count)
        let image = "https://cdn.test/i.png"
        let alert = try message(desc: body, image: image)
        let whole = bytes(.notification, alert)
        for limit in [whole - 1, whole - letter.utf8.count - 3, whole / 2, whole / 2 + 1, whole / 2 + 2] {
            let popup = try sent(.notification, alert, PayloadLimit(bytes: limit))
            let notification = try #require(popup.notification)
            #expect(notification.title == "T" && notification.image == image)
            #expect(notification.body.last == "…")
            let kept = notification.body.dropLast()
            #expect(!kept.isEmpty && kept.allSatisfy { String($0) == letter })
            // Not one character more would fit.
            #expect((limit - letter.utf8.count + 1...limit).contains(popup.sentBytes))
        }
        #expect(try sent(.notification, alert, PayloadLimit(bytes: whole)).notification?.body == body)
    }

    @Test("White space before the cut goes")
    func whiteSpace() throws {
        let alert = try message(desc: "Stay at home. Listen")
        let whole = bytes(.notification, alert)
        let popup = try sent(.notification, alert, PayloadLimit(bytes: whole - 3))
        #expect(popup.notification?.body == "Stay at home.…")
    }

    @Test("A limit that the title alone exceeds is an error that says so")
    func tiny() throws {
        let violation = try #require(PayloadLimit(bytes: 1_000).violation(by: message(title: String(repeating: "😀", count: 300))))
        #expect(violation.field == "title" && violation.problem.contains("more than the 1000"))
        #expect(try PayloadLimit(bytes: 1_000).violation(by: message(String(repeating: "😀", count: 300))) == nil)
    }
}

// The size of what a command has the relay send.

extension PayloadLimit {
    func violation(by message: RelayMessage) -> SchemaViolation? {
        violation(by: message.content, at: message.timestamp, to: message.target)
    }
}
