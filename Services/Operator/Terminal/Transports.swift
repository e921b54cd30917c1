import Schemas

extension PushTransport {
    /// For a person.
    var title: String {
        switch self {
        case .fcm: "FCM"
        case .webpush: "Web Push"
        }
    }
}

extension RelayComponent {
    /// For a person: FCM's own names, and "Web Push".
    var title: String { self == .webpush ? transport.title : rawValue }
}

/// A number with its noun.
func counted(_ number: some BinaryInteger, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

extension ComponentRecord {
    /// The number of browsers that get a push; `nil` for FCM's components, and before it is known.
    var browsers: Int? { component == .webpush ? name.flatMap { Int($0) } : nil }
}
