import Schemas

/// FCM's name for an accepted message: `projects/P/messages/0:1500415314455276%31bd1c9631bd1c96`.
enum MessageName {
    /// A new name: the time to the microsecond and a random number, so that no two are ever alike.
    static func new(project: String, now: UnixMilliseconds) -> String {
        let microseconds = String(max(0, now)) + String(1_000 + Int.random(in: 0..<1_000)).dropFirst()
        let random = String(UInt64.random(in: .min ... .max), radix: 16)
        let padding = String(repeating: "0", count: 16 - random.count)
        return "projects/\(project)/messages/0:\(microseconds)%\(padding)\(random)"
    }

    /// What FCM answers where nothing was to be sent.
    static func fake(project: String) -> String {
        "projects/\(project)/messages/fake_message_id"
    }

    /// The part that the phone's SDK sees as the message's id.
    static func id(of name: String) -> String {
        name.split(separator: "/").last.map(String.init) ?? name
    }
}
