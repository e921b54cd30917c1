import Base

/// The recipients of a push with their outcomes, as databases store them. A push may have 1,000, which mostly have the same outcome, so
/// there is a list for each kind of value, and equal errors are stored once:
///
/// `{"texts":["fMEi…","cYx0…"],"states":"Af","names":["projects/…"],"accepted":[{"count":1,"at":1795262462431},{"count":1}],"errors":[{"error":{…},"of":[1]}]}`
package struct StoredRecipients: Hashable, Sendable {
    package let records: [RecipientRecord]

    package init(_ records: [RecipientRecord]) {
        self.records = records
    }
}

extension StoredRecipients: Codable {
    private struct Fields: Codable {
        /// Recipients in a row that were accepted at the same time, or were not accepted.
        struct Run: Codable {
            var count: Int
            let at: UnixMilliseconds?
        }

        /// The recipients with the same error.
        struct Failure: Codable {
            let error: DeliveryError
            /// Their positions.
            var of: [Int]
        }

        /// The tokens, or the topic or the condition.
        let texts: [String]
        /// What each text is; absent if all are tokens.
        let kinds: [String]?
        /// A letter for each recipient: the state, in upper case if it has a name.
        let states: String
        /// The names of those that have one.
        let names: [String]?
        /// Absent if none was accepted.
        let accepted: [Run]?
        let errors: [Failure]?
    }

    package func encode(to encoder: any Encoder) throws {
        var states: [UInt8] = []
        states.reserveCapacity(records.count)
        var names: [String] = []
        var accepted: [Fields.Run] = []
        var errors: [Fields.Failure] = []
        var places: [DeliveryError: Int] = [:]
        for (position, record) in records.enumerated() {
            states.append(record.state.letter & (record.name == nil ? 0xFF : ~DeliveryState.lowerCase))
            if let name = record.name { names.append(name) }
            if let last = accepted.indices.last, accepted[last].at == record.acceptedAt {
                accepted[last].count += 1
            } else {
                accepted.append(Fields.Run(count: 1, at: record.acceptedAt))
            }
            guard let error = record.error else { continue }
            if let place = places[error] {
                errors[place].of.append(position)
            } else {
                places[error] = errors.count
                errors.append(Fields.Failure(error: error, of: [position]))
            }
        }
        let kinds = records.map(\.recipient.field)
        let fields = Fields(
            texts: records.map(\.recipient.text), kinds: kinds.allSatisfy { $0 == .token } ? nil : kinds.map(\.rawValue),
            states: String(decoding: states, as: UTF8.self), names: names.isEmpty ? nil : names,
            accepted: accepted.contains { $0.at != nil } ? accepted : nil, errors: errors.isEmpty ? nil : errors)
        try fields.encode(to: encoder)
    }

    package init(from decoder: any Decoder) throws {
        let fields = try Fields(from: decoder)
        func failure(_ problem: String) -> DecodingError {
            .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: problem))
        }
        let (count, letters) = (fields.texts.count, Array(fields.states.utf8))
        let kinds = fields.kinds?.compactMap(PushRecipient.Field.init(rawValue:))
        var names = (fields.names ?? [])[...]
        guard letters.count == count, kinds?.count ?? count == count else { throw failure("expected a state for each recipient") }
        var records: [RecipientRecord] = []
        records.reserveCapacity(count)
        for (position, (text, letter)) in zip(fields.texts, letters).enumerated() {
            guard let state = DeliveryState(letter: letter) else { throw failure("a state is unknown") }
            let isNamed = letter & DeliveryState.lowerCase == 0
            let name = isNamed ? names.popFirst() : nil
            guard !isNamed || name != nil else { throw failure("a name is missing") }
            records.append(
                RecipientRecord(recipient: PushRecipient(kinds?[position] ?? .token, text), state: state, name: name))
        }
        var position = 0
        for run in fields.accepted ?? [] {
            guard run.count > 0, run.count <= count - position else { throw failure("expected a time for each recipient") }
            for index in position..<position + run.count { records[index].acceptedAt = run.at }
            position += run.count
        }
        for failed in fields.errors ?? [] {
            for index in failed.of {
                guard records.indices.contains(index) else { throw failure("an error of an unknown recipient") }
                records[index].error = failed.error
            }
        }
        self.init(records)
    }
}

extension DeliveryState {
    /// The bit in which a letter in lower case differs from that in upper case.
    fileprivate static let lowerCase: UInt8 = 0x20

    /// The letter of the state, in lower case.
    fileprivate var letter: UInt8 {
        switch self {
        case .pending: UInt8(ascii: "p")
        case .accepted: UInt8(ascii: "a")
        case .failed: UInt8(ascii: "f")
        case .expired: UInt8(ascii: "e")
        case .recalled: UInt8(ascii: "r")
        }
    }

    /// - Parameter letter: In either case.
    fileprivate init?(letter: UInt8) {
        guard let state = Self.allCases.first(where: { $0.letter == letter | Self.lowerCase }) else { return nil }
        self = state
    }
}
