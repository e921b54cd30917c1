import MongoDatabase
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
