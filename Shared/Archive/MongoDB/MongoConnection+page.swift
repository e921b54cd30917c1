import Store
import Schemas

/// Pages of the archive.
extension MongoConnection {
    /// The maximum number of topics that MongoDB reads topic by topic, merged in the order of time: its default setting
    /// `internalQueryMaxScansToExplode` is 200.
    private static var maxMergedTopics: Int { 100 }

    /// The matching documents from the newest to the oldest.
    func page(_ filter: MessageFilter, after cursor: PageCursor?, skipping skipped: Int, limit: Int) throws -> [BSONDocument] {
        guard let topics = filter.possibleTopics, topics.count > Self.maxMergedTopics, !filter.isSelective else {
            return try find(filter, after: cursor, skipping: skipped, limit: limit)
        }
        // Most callers may see most topics.
        let newest = try newest(filter, after: cursor, skipping: skipped, limit: limit)
        if newest.count == limit { return newest }
        var found: [BSONDocument] = []
        for start in stride(from: 0, to: topics.count, by: Self.maxMergedTopics) {
            var part = filter
            part.topics = Array(topics[start..<min(start + Self.maxMergedTopics, topics.count)])
            found += try find(part, after: cursor, skipping: 0, limit: skipped + limit)
        }
        let sorted = found.map { (document: $0, place: ArchivePlace(of: $0)) }.sorted { $0.place.isNewer(than: $1.place) }
        return sorted.dropFirst(skipped).prefix(limit).map(\.document)
    }

    private func find(
        _ filter: MessageFilter, after cursor: PageCursor?, skipping skipped: Int, limit: Int
    ) throws -> [BSONDocument] {
        try find(
            filter.document(after: cursor), in: MessageCollection.name,
            options: [
                "sort": MessageCollection.order, "skip": .int64(Int64(skipped)), "limit": .int64(Int64(limit)),
                "projection": MessageCollection.withoutWords,
            ])
    }

    /// The matching documents among the archive's newest ones.
    private func newest(
        _ filter: MessageFilter, after cursor: PageCursor?, skipping skipped: Int, limit: Int
    ) throws -> [BSONDocument] {
        try aggregate(
            [
                ["$match": .document(filter.timesDocument(after: cursor))], ["$sort": MessageCollection.order],
                ["$limit": .int64(Int64(maxSearchedMessages))], ["$match": .document(filter.document(after: cursor))],
                ["$skip": .int64(Int64(skipped))], ["$limit": .int64(Int64(limit))],
                ["$project": MessageCollection.withoutWords],
            ], in: MessageCollection.name)
    }
}

/// The place of a document in the archive. Other programs' documents may lack it; they come last.
private struct ArchivePlace {
    private let timestamp: UnixMilliseconds?
    private let msiKey: ObjectID?

    init(of document: BSONDocument) {
        let fields = try? BSONFields(document)
        timestamp = try? fields?.value("timestamp")
        msiKey = try? fields?.value("msi_key")
    }

    func isNewer(than other: ArchivePlace) -> Bool {
        guard let timestamp, let msiKey else { return false }
        guard let otherTimestamp = other.timestamp, let otherKey = other.msiKey else { return true }
        return (timestamp, msiKey) > (otherTimestamp, otherKey)
    }
}

extension MessageFilter {
    /// The filter in MongoDB's language.
    ///
    /// - Parameter cursor: Only older messages than this one.
    func document(after cursor: PageCursor?) -> BSONDocument {
        var fields: [(String, BSONValue)] = []
        var further: [BSONValue] = []
        if let channel { fields.append(("topic.channel", channel.bson)) }
        if let area { fields.append(("topic.area", area.bson)) }
        if let subject { fields.append(("topic.subject", subject.bson)) }
        if let topics = possibleTopics {
            // The first condition has an index in the order of the archive. The second one is exact.
            further.append(["topic.subject": ["$in": Array(Set(topics.map(\.subject))).bson]])
            further.append(["topic_key": ["$in": topics.bson]])
        }
        if let sender { fields.append(("sender", sender.bson)) }
        // A trace id contains no special characters of regular expressions.
        if let traceID { fields.append(("traceparent", ["$regex": .string("^00-\(traceID)-")])) }
        if let state {
            // Messages of other programs have no state and count as relayed.
            fields.append(("relay.state", state == .relayed ? ["$in": [state.bson, nil]] : state.bson))
        }
        if rejected == true { fields += Self.isRejected }
        if let text {
            let isPlain = { (term: SearchQuery.Term) in !term.isPrefix && term.joined == nil }
            let words = text.terms.filter(isPlain).flatMap(\.words).map(\.bson)
            further += text.terms.filter { !isPlain($0) }.map(\.condition)
            if words.count == 1 { fields.append((MessageCollection.words, words[0])) }
            if words.count > 1 { fields.append((MessageCollection.words, ["$all": .array(words)])) }
        }
        if !further.isEmpty { fields.append(("$and", .array(further))) }
        fields += times(after: cursor)
        return BSONDocument(fields)
    }

    /// A message needed an approval, and another account than the sender's has recalled it instead. Nothing follows a recall.
    private static var isRejected: [(String, BSONValue)] {
        func last(_ list: BSONValue) -> BSONValue { ["$arrayElemAt": [list, -1]] }
        func each(_ field: String) -> BSONValue {
            ["$map": ["input": "$relay.trace", "as": "step", "in": .string("$$step.\(field)")]]
        }
        let decisions: BSONValue = [
            "$filter": ["input": each("action"), "as": "action", "cond": ["$in": ["$$action", ["approve", "edit"]]]]
        ]
        return [
            ("approval", true),
            (
                "$expr",
                [
                    "$and": [
                        ["$eq": ["$relay.state", "recalled"]], ["$eq": [last(each("action")), "recall"]],
                        ["$ne": [last(each("by")), "$sender"]], ["$ne": [last(decisions), "approve"]],
                    ]
                ]
            ),
        ]
    }

    /// The condition for the times alone.
    func timesDocument(after cursor: PageCursor?) -> BSONDocument {
        BSONDocument(times(after: cursor))
    }

    private func times(after cursor: PageCursor?) -> [(String, BSONValue)] {
        var bounds: [(String, BSONValue)] = []
        if let from { bounds.append(("$gte", from.bson)) }
        if let to { bounds.append(("$lt", to.bson)) }
        guard let cursor else { return bounds.isEmpty ? [] : [("timestamp", .document(BSONDocument(bounds)))] }
        // The first condition finds the position in the index, the second one the position among equal times.
        bounds.append(("$lte", cursor.timestamp.bson))
        return [
            ("timestamp", .document(BSONDocument(bounds))),
            ("$or", [["timestamp": ["$lt": cursor.timestamp.bson]], ["msi_key": ["$lt": cursor.msiKey.bson]]]),
        ]
    }
}

extension SearchQuery.Term {
    /// The condition for a document's words.
    fileprivate var condition: BSONValue {
        let parts = words.enumerated().map { Self.condition($1, isPrefix: isPrefix && $0 == words.count - 1) }
        guard let joined else { return parts[0] }
        return ["$or": [["$and": .array(parts)], Self.condition(joined, isPrefix: isPrefix)]]
    }

    private static func condition(_ word: String, isPrefix: Bool) -> BSONValue {
        // A word contains no special characters of regular expressions.
        let value: BSONValue = isPrefix ? ["$regex": .string("^" + word)] : word.bson
        return .document(BSONDocument([(MessageCollection.words, value)]))
    }
}
