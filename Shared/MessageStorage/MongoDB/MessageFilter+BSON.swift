import MongoDatabase
import Schemas

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
        if let text {
            let words = text.terms.filter { !$0.isPrefix }.map { $0.word.bson }
            further += text.terms.filter(\.isPrefix).map { term in
                // A word contains no special characters of regular expressions.
                ["search": ["$regex": .string("^" + term.word)]]
            }
            if words.count == 1 { fields.append(("search", words[0])) }
            if words.count > 1 { fields.append(("search", ["$all": .array(words)])) }
        }
        if !further.isEmpty { fields.append(("$and", .array(further))) }
        fields += times(after: cursor)
        return BSONDocument(fields)
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
