import ArgumentParser

/// Where the services keep what they are told.
enum Store: String, Hashable, Sendable, CaseIterable, ExpressibleByArgument {
    /// A file of each service's own in the state directory.
    case sqlite
    /// A database server, which is harmed as the services are.
    case mongodb

    /// The processes that there are.
    var processes: [Part] {
        Part.allCases.filter { $0 != .machine && ($0 != .database || self == .mongodb) }
    }

    /// The time between two posts of one portal. The server that stands for MongoDB takes some ten milliseconds for a change.
    var period: Duration {
        switch self {
        case .sqlite: .milliseconds(320)
        case .mongodb: .milliseconds(1_600)
        }
    }
}
