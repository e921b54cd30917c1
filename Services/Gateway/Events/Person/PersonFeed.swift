import DequeModule
import FoundationEssentials
import Schemas

/// The latest events of all persons, so that an app that was away for a moment learns what it has missed. Pure.
///
/// They have their own numbers: those of the services may be missing here.
struct PersonFeed: Sendable {
    /// An event, encoded once for all streams.
    struct Entry: Sendable {
        let account: AccountName
        let kind: String
        /// `kind` and `id` as JSON.
        let json: Data
    }

    private let capacity: Int
    /// Of this process: a position of another one is unknown here.
    private let epoch = ObjectID()
    private var entries: Deque<Entry> = []
    /// The number of the last one of ``entries``, or of the last gap.
    private var last: Int64 = 0
    /// Of each service; each of its instances has its own.
    private var numbers: [PersonEventSource: EventNumbers] = [:]

    init(capacity: Int = 8_192) {
        self.capacity = capacity
    }

    /// The position behind the last event, as a client sends it back in `Last-Event-ID`.
    var position: String { "\(epoch)-\(last)" }

    /// Adds an event of a service.
    ///
    /// - Returns: Whether events of its instance before it are missing. Then all that were known are forgotten.
    mutating func add(_ event: PersonChanged, from source: PersonEventSource, json: Data) -> Bool {
        let isNext = numbers[source, default: EventNumbers()].isNext(event.number, of: event.epoch)
        if !isNext { forget() }
        if entries.count == capacity { entries.removeFirst() }
        entries.append(Entry(account: event.account, kind: event.kind, json: json))
        last += 1
        return !isNext
    }

    /// Events may be missing, because a connection to an instance of a service was lost or made.
    mutating func lose(_ source: PersonEventSource) {
        numbers[source] = nil
        forget()
    }

    /// Forgets the events, so that a client with an earlier position learns that it may have missed some.
    private mutating func forget() {
        entries = []
        last += 1
    }

    /// The events of an account after a client's position; `nil` if some of them may not be known.
    func events(of account: AccountName, after lastEventID: String) -> [Entry]? {
        let parts = lastEventID.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, ObjectID(String(parts[0])) == epoch, let number = Int64(parts[1]),
            (last - Int64(entries.count)...last).contains(number)
        else { return nil }
        return entries.suffix(Int(last - number)).filter { $0.account == account }
    }
}
