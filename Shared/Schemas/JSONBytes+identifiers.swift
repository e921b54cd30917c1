import JSON

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

    private mutating func appendDigits(of id: ObjectID) {
        append(count: 24) { id.write(into: $0) }
    }
}
