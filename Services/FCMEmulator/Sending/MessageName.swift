import Schemas

/// FCM's name of an accepted message: `projects/P/messages/0:1500415314455276%31bd1c9631bd1c96` for one phone. For a topic or
/// condition the id is a plain number.
enum MessageName {
    /// A new unique name. For one phone it has the time in microseconds and a random number, otherwise a random number.
    static func new(project: String, to target: SendRequest.Target, now: UnixMilliseconds) -> String {
        switch target {
        case .topic, .condition:
            return "projects/\(project)/messages/\(number())"
        case .token, .installation:
            let microseconds = String(max(0, now)) + String(1_000 + Int.random(in: 0..<1_000)).dropFirst()
            let random = String(UInt64.random(in: .min ... .max), radix: 16)
            let padding = String(repeating: "0", count: 16 - random.count)
            return "projects/\(project)/messages/0:\(microseconds)%\(padding)\(random)"
        }
    }

    /// FCM's answer to a dry run. For a topic or condition it looks like any other name.
    static func dryRun(project: String, to target: SendRequest.Target) -> String {
        switch target {
        case .topic, .condition: "projects/\(project)/messages/\(number())"
        case .token, .installation: "projects/\(project)/messages/fake_message_id"
        }
    }

    /// The part that the phone's SDK sees as the message's id.
    static func id(of name: String) -> String {
        name.split(separator: "/").last.map(String.init) ?? name
    }

    /// Nineteen digits, as in FCM's names.
    private static func number() -> Int64 { .random(in: 1_000_000_000_000_000_000 ... .max) }
}
