import ArgumentParser

/// The database of the services.
enum Store: String, Hashable, Sendable, CaseIterable, ExpressibleByArgument {
    /// A file for each service in the state directory.
    case sqlite
    /// A database server, which has faults like the services.
    case mongodb

    /// The processes of a run. Several Web Push services need MongoDB.
    var processes: [Part] {
        let others: [Part] = [.database] + Part.webPush.dropFirst()
        return Part.allCases.filter { $0 != .machine && (self == .mongodb || !others.contains($0)) }
    }

    /// The time between two posts of one portal. The server that replaces MongoDB takes about ten milliseconds for a write.
    var period: Duration {
        switch self {
        case .sqlite: .milliseconds(320)
        case .mongodb: .milliseconds(3_200)
        }
    }

    /// How long it may take to store a relay's outcome, in milliseconds. It is stored together with that of the Web Push service, which may
    /// have many subscriptions to read. With MongoDB until the services give up (`socketTimeoutMS`), and once more.
    var storing: Int64 {
        switch self {
        case .sqlite: 5_000
        case .mongodb: 20_000
        }
    }
}
