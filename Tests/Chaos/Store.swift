import ArgumentParser

/// The database of the services.
enum Store: String, Hashable, Sendable, CaseIterable, ExpressibleByArgument {
    /// A file for each service in the state directory.
    case sqlite
    /// A database server, which has faults like the services.
    case mongodb

    /// The processes of a run.
    var processes: [Part] {
        Part.allCases.filter { $0 != .machine && ($0 != .database || self == .mongodb) }
    }

    /// The time between two posts of one portal. The server that replaces MongoDB takes about ten milliseconds for a write.
    var period: Duration {
        switch self {
        case .sqlite: .milliseconds(320)
        case .mongodb: .milliseconds(1_600)
        }
    }

    /// How long it may take to store a relay's outcome, in milliseconds: with MongoDB until the services give up (`socketTimeoutMS`), and
    /// once more.
    var storing: Int64 {
        switch self {
        case .sqlite: StrayCopy.margin
        case .mongodb: 20_000
        }
    }
}
