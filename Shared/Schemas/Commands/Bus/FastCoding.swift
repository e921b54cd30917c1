package import Base

// Identifiers and times in the fast paths of frames and payloads.

extension JSONBytes {
    /// Appends an identifier as a JSON string.
    package mutating func append(_ id: ObjectID) {
        append("\"")
        appendDigits(of: id)
        append("\"")
    }

    /// Appends a topic key as a JSON string.
    package mutating func append(_ key: TopicKey) {
        append("\"")
        appendDigits(of: key.channel)
        append("-")
        appendDigits(of: key.area)
        append("-")
        appendDigits(of: key.subject)
        append("\"")
    }

    mutating func append(_ moment: UnixMilliseconds) {
        append(moment.rawValue)
    }

    mutating func append(_ time: Milliseconds) {
        append(time.rawValue)
    }

    mutating func append(_ time: Seconds) {
        append(time.rawValue)
    }

    private mutating func appendDigits(of id: ObjectID) {
        append(count: 24) { id.write(into: $0) }
    }
}

extension FastReader {
    mutating func moment() -> UnixMilliseconds? {
        integer().map(UnixMilliseconds.init(rawValue:))
    }

    mutating func milliseconds() -> Milliseconds? {
        integer().map(Milliseconds.init(rawValue:))
    }

    mutating func seconds() -> Seconds? {
        integer().map(Seconds.init(rawValue:))
    }
}
