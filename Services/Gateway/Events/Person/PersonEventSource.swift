import Schemas

/// A service that tells what happens to persons.
enum PersonEventSource: String, CaseIterable, Sendable {
    case people
    /// It also tells what happens in classes.
    case study

    /// The events to subscribe to.
    var events: [String] {
        switch self {
        case .people: [PersonChanged.name]
        case .study: [PersonChanged.name, ClassChanged.name]
        }
    }
}

/// The numbers of the latest event of each process of a service, by which missing events are noticed. Pure.
struct EventNumbers: Sendable {
    private var latest: [ObjectID: Int64] = [:]

    /// Notes an event.
    ///
    /// - Parameter epoch: Of the process.
    /// - Returns: Whether none before it is missing. The first one of a process may have any number: what was before its
    ///   connection is lost anyway.
    mutating func isNext(_ number: Int64, of epoch: ObjectID) -> Bool {
        latest.updateValue(number, forKey: epoch).map { $0 &+ 1 == number } ?? true
    }

    mutating func forget() {
        latest = [:]
    }
}
